//! A study of tiny cells and a workload that stands for training: a few steps of arithmetic, written down like results.

#![allow(dead_code)]

use invitro_lab::executor::{Reporter, Workload};
use invitro_lab::study::{Cell, StudyFolder};
use invitro_lab::training::progress::Progress;
use invitro_lab::training::{Member, MemberOutcome};
use invitro_lab::{Error, Result, Stop};
use invitro_results::folder::{METRICS_TABLE, SUMMARY, TABLES, TRAINING_TABLE, WORDS, write_json};
use invitro_results::{Loss, Measure, Rows, Seal, State, Status, metrics, summary, training, words};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

pub const STEPS: u64 = 20;

/// Two vocabularies, so two population keys, times distances and seeds.
pub fn study(distances: usize, data_seeds: usize) -> String {
    let distances: Vec<String> = (0..distances).map(|at| format!("{:.3}", at as f64 / 1000.0)).collect();
    let seeds: Vec<String> = (0..data_seeds).map(|seed| seed.to_string()).collect();
    format!(
        "name = \"tiny\"\nexperiment = {{ train.steps = {STEPS} }}\n[factors]\ntokenizer.vocab = [512, 1024]\n\
         language.distance = [{}]\n[seeds]\ndata = [{}]\nmodel = [0]\n",
        distances.join(", "),
        seeds.join(", ")
    )
}

pub fn create(place: &Path, text: &str) -> StudyFolder {
    let file = place.join("tiny.toml");
    std::fs::write(&file, text).unwrap();
    StudyFolder::create(&file, &[], &place.join("out"), None, false).unwrap()
}

/// Stands for training. What it does to a cell can be chosen by the cell.
pub struct Toy {
    pub capacity: usize,
    pub pause: Duration,
    /// Cells that fail, with what happens.
    pub faults: Box<dyn Fn(&Member) -> Option<Fault> + Sync>,
    /// A cell whose table is never whole.
    pub breaks: Option<String>,
    /// Sizes of the populations that were trained, and of those refused.
    pub trained: Mutex<Vec<usize>>,
    pub refused: Mutex<Vec<usize>>,
    /// Populations beyond this many members do not fit.
    pub room: usize,
    /// There is no device to train on.
    pub is_broken: bool,
}

pub enum Fault {
    Fails,
    Unwritten,
    Panics,
}

impl Toy {
    pub fn new(capacity: usize) -> Toy {
        let (trained, refused, breaks) = Default::default();
        Toy {
            capacity,
            pause: Duration::ZERO,
            faults: Box::new(|_| None),
            breaks,
            trained,
            refused,
            room: usize::MAX,
            is_broken: false,
        }
    }
}

impl Workload for Toy {
    fn kind(&self) -> &'static str {
        "toy"
    }

    fn capacity(&self, _cell: &Cell) -> Result<usize> {
        Ok(self.capacity)
    }

    fn train(&self, members: &[Member], stop: &Stop, progress: &dyn Progress) -> Result<Vec<MemberOutcome>> {
        if self.is_broken {
            return Err(Error::Model(invitro_model::Error::Device("the GPU fell off the bus".into())));
        }
        if members.len() > self.room {
            self.refused.lock().unwrap().push(members.len());
            return Err(Error::Model(invitro_model::Error::OutOfMemory("no room for so many".into())));
        }
        self.trained.lock().unwrap().push(members.len());
        let mut outcomes = Vec::new();
        for (place, member) in members.iter().enumerate() {
            match (self.faults)(member) {
                Some(Fault::Panics) => panic!("a bug in this cell"),
                Some(Fault::Fails) => {
                    progress.failed(place, 3, "a fault of this cell");
                    note(member, State::Failed, 3, Some("a fault of this cell"));
                    outcomes.push(MemberOutcome::Failed { error: "a fault of this cell".into() });
                }
                Some(Fault::Unwritten) => {
                    progress.failed(place, STEPS, "no room");
                    outcomes.push(MemberOutcome::Unwritten { error: "no room".into() });
                }
                None => outcomes.push(self.train_one(place, member, stop, progress)),
            }
        }
        Ok(outcomes)
    }
}

impl Toy {
    fn train_one(&self, place: usize, member: &Member, stop: &Stop, progress: &dyn Progress) -> MemberOutcome {
        let begun = Status::read(&member.folder).unwrap();
        let from = begun.map_or(0, |status| status.step);
        std::fs::create_dir_all(&member.folder).unwrap();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(member.folder.join("sittings"));
        use std::io::Write;
        writeln!(log.unwrap(), "{from}").unwrap();
        for step in from + 1..=STEPS {
            std::thread::sleep(self.pause);
            progress.stepped(step, &[0.0], 1);
            if stop.requested() && step < STEPS {
                if !progress.may_write(place) {
                    return MemberOutcome::Lost;
                }
                note(member, State::Stopped, step, None);
                return MemberOutcome::Stopped { step };
            }
        }
        if !progress.may_write(place) {
            return MemberOutcome::Lost;
        }
        std::fs::write(member.folder.join("result"), member.experiment.id()).unwrap();
        write_results(member);
        note(member, State::Done, STEPS, None);
        if self.breaks.as_ref() == Some(&member.experiment.id()) {
            std::fs::write(member.folder.join(METRICS_TABLE), "PAR1").unwrap();
        }
        MemberOutcome::Done
    }
}

/// The tables of a finished run, with a number per evaluation.
pub fn write_results(member: &Member) {
    let (folder, id) = (&member.folder, member.experiment.id());
    let mut rows = Vec::new();
    for step in member.experiment.eval.at(STEPS) {
        let mut now = Rows::new(step);
        now.push(None, Measure::Loss(Loss::Loss), 1.0, 1);
        rows.extend(now.list);
    }
    metrics::write(&folder.join(METRICS_TABLE), &id, &rows).unwrap();
    training::write(&folder.join(TRAINING_TABLE), &id, &[]).unwrap();
    words::write(&folder.join(WORDS), &id, &[]).unwrap();
    let row = summary::describe(&id, State::Done, None, &member.experiment.flatten());
    write_json(&folder.join(SUMMARY), &row).unwrap();
}

pub fn note(member: &Member, state: State, step: u64, error: Option<&str>) {
    std::fs::create_dir_all(&member.folder).unwrap();
    let mut status = Status::new(member.experiment.id(), member.experiment.train.steps);
    (status.state, status.step, status.error) = (state, step, error.map(str::to_owned));
    if state == State::Done {
        let seal = |name: &str| (name.to_owned(), Seal::of_file(&member.folder.join(name)).unwrap());
        status.files = TABLES.map(seal).into();
    }
    status.write(&member.folder).unwrap();
}

/// Remembers what was reported.
#[derive(Default)]
pub struct Journal {
    pub lines: Mutex<Vec<String>>,
}

impl Journal {
    fn line(&self, text: String) {
        self.lines.lock().unwrap().push(text);
    }

    pub fn count(&self, start: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.starts_with(start)).count()
    }
}

impl Progress for Journal {}

impl Reporter for Journal {
    fn taken(&self, cells: &[&Cell]) {
        for cell in cells {
            self.line(format!("taken {}", cell.id));
        }
    }

    fn finished(&self, cell: &Cell) {
        self.line(format!("done {}", cell.id));
    }

    fn cell_failed(&self, cell: &Cell, error: &str) {
        self.line(format!("failed {} {error}", cell.id));
    }

    fn taken_again(&self, cell: &Cell, why: &str) {
        self.line(format!("again {} {why}", cell.id));
    }

    fn halved(&self, members: usize, _why: &str) {
        self.line(format!("halved {members}"));
    }

    fn taken_over(&self, cell: &Cell) {
        self.line(format!("lost {}", cell.id));
    }

    fn waiting(&self, held: usize) {
        self.line(format!("waiting {held}"));
    }

    fn gave_up(&self, error: &str) {
        self.line(format!("gave up {error}"));
    }
}
