//! Files and folders are there whole or not at all.

use invitro_base::files::{PartialFile, PartialFolder, is_partial, remove_abandoned, remove_partials, replace_folder};
use invitro_base::files::{write, write_with};
use std::io::{Error, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write(&path, "first").unwrap();
    write(&path, "second").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_failed_write_keeps_the_old_file_and_removes_the_partial_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    write(&path, "old").unwrap();
    let failed = write_with(&path, |out| {
        out.write_all(b"half")?;
        assert_eq!(names(folder.path()).len(), 2);
        Err::<(), _>(Error::other("the disk is full"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let panicked = std::panic::catch_unwind(|| write_with::<(), Error>(&path, |_| panic!("as tests do")));
    assert!(panicked.is_err());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn what_cannot_be_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(write(&folder.path().join("missing/a.txt"), "").is_err());
    let error = write(&folder.path().join(".."), "").unwrap_err().to_string();
    assert!(error.ends_with("does not end in the name of a file"), "{error}");
    let taken = folder.path().join("folder");
    std::fs::create_dir(&taken).unwrap();
    assert!(write(&taken, "").is_err());
    assert_eq!(names(folder.path()), ["folder"]);
}

#[test]
fn many_writers_of_one_file_leave_one_writers_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    std::thread::scope(|scope| {
        for writer in 0..8u8 {
            let path = &path;
            scope.spawn(move || (0..20).for_each(|_| write(path, [writer; 10_000]).unwrap()));
        }
    });
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.len() == 10_000 && bytes.iter().all(|&byte| byte == bytes[0]));
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_name_that_is_taken_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let first = PartialFile::new(&folder.path().join("a.txt")).unwrap();
    let name = first.path().file_name().unwrap().to_str().unwrap().to_string();
    let (writer, number) = name.strip_prefix(".a.txt.").unwrap().rsplit_once('-').unwrap();
    let number: u64 = number.strip_suffix(".part").unwrap().parse().unwrap();
    assert!(writer.ends_with(&format!("-{}", std::process::id())), "{name}");
    // Other tests of this process count as well: a hundred numbers are enough for all of them.
    for next in number + 1..number + 100 {
        std::fs::write(folder.path().join(format!(".b.txt.{writer}-{next}.part")), "theirs").unwrap();
    }
    write(&folder.path().join("b.txt"), "ours").unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("b.txt")).unwrap(), "ours");
    assert_eq!(names(folder.path()).len(), 101);
}

#[test]
fn a_folder_is_replaced_whole() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("figures");
    for (name, text) in [("old.svg", "old"), ("new.svg", "new")] {
        replace_folder(&path, |partial| {
            std::fs::create_dir(partial.join("inner"))?;
            std::fs::write(partial.join("inner").join(name), text)
        })
        .unwrap();
    }
    assert_eq!(names(&path.join("inner")), ["new.svg"]);
    assert_eq!(names(place.path()), ["figures"]);
}

#[test]
fn a_folder_that_fails_leaves_the_old_one() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("figures");
    replace_folder(&path, |partial| std::fs::write(partial.join("a"), "old")).unwrap();
    let failed = replace_folder(&path, |partial| {
        std::fs::write(partial.join("a"), "half")?;
        Err::<(), _>(Error::other("no font"))
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read_to_string(path.join("a")).unwrap(), "old");
    assert_eq!(names(place.path()), ["figures"]);
}

#[test]
fn partials_are_known_by_name_and_can_be_removed() {
    for name in [".a.txt.12-0.part", ".config.toml.123.part"] {
        assert!(is_partial(name), "{name}");
    }
    for name in ["a.part", ".hidden", "a.txt"] {
        assert!(!is_partial(name), "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a.txt"), "kept").unwrap();
    let mut file = PartialFile::new(&folder.path().join("b.txt")).unwrap();
    file.writer().write_all(b"half").unwrap();
    let inner = PartialFolder::new(&folder.path().join("c")).unwrap();
    std::fs::write(inner.path().join("d"), "half").unwrap();
    assert!(is_partial(file.path().file_name().unwrap()) && is_partial(inner.path().file_name().unwrap()));
    // As a killed process does.
    std::mem::forget((file, inner));
    assert_eq!(names(folder.path()).len(), 3);
    remove_partials(folder.path());
    assert_eq!(names(folder.path()), ["a.txt"]);
    remove_partials(&folder.path().join("missing"));
}

#[test]
fn of_what_several_write_only_what_is_abandoned_goes() {
    let folder = tempfile::tempdir().unwrap();
    let ours = PartialFile::new(&folder.path().join("ours")).unwrap();
    let name = ours.path().file_name().unwrap().to_str().unwrap().to_owned();
    let machine = name.strip_prefix(".ours.").unwrap().split('-').next().unwrap().to_owned();
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let write = |name: &str, hours: u64| {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    };
    write(&format!(".killed.{machine}-{}-0.part", gone.id()), 0);
    write(&format!(".elsewhere.{}-{}-0.part", "0".repeat(8), gone.id()), 1);
    write(&format!(".long-ago.{}-1-0.part", "0".repeat(8)), 25);
    write("long-ago", 25);
    remove_abandoned(folder.path());
    assert_eq!(names(folder.path()), [&format!(".elsewhere.00000000-{}-0.part", gone.id()), &name, "long-ago"]);
    remove_abandoned(&folder.path().join("missing"));
}

#[test]
fn of_those_who_make_a_file_anew_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lease");
    let make = |text: &str| {
        let mut file = PartialFile::new(&path).unwrap();
        file.writer().write_all(text.as_bytes()).unwrap();
        file.finish_new()
    };
    make("first").unwrap();
    assert_eq!(make("second").unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
    assert_eq!(names(folder.path()), ["lease"]);
}
