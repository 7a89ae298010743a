//! Wordlists: wide and long tables, and their errors.

use invitro_language::lexicon::wordlist::Wordlist;

fn list(text: &str, languages: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut words = Wordlist::parse(text, None).unwrap();
    words.select_languages(&languages.iter().map(|&name| name.to_owned()).collect::<Vec<_>>()).unwrap();
    words.by_concept()
}

#[test]
fn both_tables_say_the_same() {
    let entry = |concept: &str, forms: [&str; 2]| (concept.to_owned(), forms.map(str::to_owned).to_vec());
    let wide = "concept\tA\tnote\tB\nhand\tHand\tx\thand\n\nüber\tüber\t\tover\n";
    let wanted = [entry("hand", ["Hand", "hand"]), entry("über", ["über", "over"])];
    assert_eq!(list(wide, &["A", "B"]), wanted);
    let long = "ID,Language_ID,Parameter_ID,Form\r\n1,deu,hand,Hand\r\n2,nld,hand,\"hand\"\r\n3,nld,hand,poot\r\n\
                4,deu,über,über\r\n5,eng,hand,\"a \"\"hand\"\", or\ntwo\"\r\n6,nld,über,over";
    assert_eq!(list(long, &["deu", "nld"]), wanted);
    assert_eq!(list(long, &["eng"])[0].1, ["a \"hand\", or\ntwo"]);
    assert_eq!(list("\u{feff}concept,A\nx,y", &["A"]), [("x".to_owned(), vec!["y".to_owned()])]);
}

#[test]
fn faults_are_told_where_they_are() {
    let fault = |text: &str| Wordlist::parse(text, None).unwrap_err();
    assert_eq!(fault(""), "it is empty");
    assert_eq!(fault("concept\tA\tB\n"), "it has no words");
    assert_eq!(fault("concept\tA\tB\nx\ty"), "line 2 has 2 fields, the first one 3");
    assert_eq!(fault("Language_ID,Form\nA,x"), "it has no column `Parameter_ID`, but Language_ID, Form");
    assert!(fault("word\nx").starts_with("it has neither the columns Language_ID"));
    let mut words = Wordlist::parse("concept\tA\tC\nx\ty\tz", None).unwrap();
    assert_eq!(words.select_languages(&["B".to_owned()]).unwrap_err(), "it has no words of `B`; its languages: A, C");
}
