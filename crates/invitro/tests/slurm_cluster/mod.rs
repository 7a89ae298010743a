//! A real Slurm on this machine: munged, slurmctld and a few slurmd "nodes" on the loopback interface, children of the
//! test, with all their state in one folder.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Cluster {
    // A short path: sockets have at most 108 bytes.
    place: tempfile::TempDir,
    munged: Option<Child>,
    controller: Option<Child>,
    nodes: Vec<Option<Child>>,
}

/// A task as `squeue` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// `12_3`
    pub name: String,
    pub state: String,
    pub node: String,
}

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether Slurm is installed. Where it must be, a missing one is a failure.
pub fn installed() -> bool {
    let found = ["munged", "slurmctld", "slurmd", "sbatch"]
        .iter()
        .all(|program| PATH.split(':').any(|folder| Path::new(folder).join(program).exists()));
    let required = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(found || !required, "Slurm must be installed here: apt-get install munge slurmctld slurmd slurm-client");
    found
}

impl Cluster {
    /// Nodes `n0`, `n1`, … of two processors each, ready for work.
    pub fn start(nodes: usize) -> Cluster {
        let place = tempfile::Builder::new().prefix("slurm").tempdir_in("/tmp").unwrap();
        let mut cluster = Cluster { place, munged: None, controller: None, nodes: Vec::new() };
        cluster.write_config(nodes);
        let at = |name: &str| cluster.at(name).display().to_string();
        let munged = Command::new("munged")
            .args(["--foreground", "--force"])
            .arg(format!("--key-file={}", at("munge/munge.key")))
            .arg(format!("--socket={}", at("run/munge.sock")))
            .arg(format!("--pid-file={}", at("run/munged.pid")))
            .arg(format!("--log-file={}", at("log/munged.log")))
            .arg(format!("--seed-file={}", at("munge/munged.seed")))
            .env("PATH", PATH)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        cluster.munged = Some(munged.unwrap());
        cluster.wait("munged", 20, |cluster| cluster.at("run/munge.sock").exists());
        cluster.controller = Some(cluster.daemon("slurmctld", &[]));
        cluster.wait("slurmctld", 60, |cluster| {
            cluster.command("scontrol").arg("ping").output().unwrap().status.success()
        });
        for node in 0..nodes {
            cluster.nodes.push(None);
            cluster.start_node(node);
        }
        cluster.wait("nodes", 60, |cluster| cluster.idle() == nodes);
        cluster
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write_config(&self, nodes: usize) {
        std::fs::set_permissions(self.place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        for folder in ["munge", "state", "log", "run"] {
            std::fs::create_dir(self.at(folder)).unwrap();
        }
        let key: Vec<u8> = (0..1024u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        std::fs::write(self.at("munge/munge.key"), key).unwrap();
        std::fs::set_permissions(self.at("munge/munge.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::set_permissions(self.at("munge"), std::fs::Permissions::from_mode(0o700)).unwrap();
        let text =
            |command: &mut Command| String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned();
        let user = text(Command::new("id").arg("-un"));
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let folder = self.place.path().display();
        let ports = free_ports(nodes + 1);
        let mut config = format!(
            "ClusterName=local\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\n\
             CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\nAuthType=auth/munge\nCredType=cred/munge\n\
             AuthInfo=socket={folder}/run/munge.sock,cred_expire=5\nSlurmUser={user}\nSlurmdUser={user}\n\
             StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/run/spool.%n\n\
             SlurmctldPidFile={folder}/run/slurmctld.pid\nSlurmdPidFile={folder}/run/slurmd.%n.pid\n\
             SlurmctldLogFile={folder}/log/slurmctld.log\nSlurmdLogFile={folder}/log/slurmd.%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\nMinJobAge=3600\n\
             SlurmdParameters=config_overrides\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerType=sched/backfill\n\
             SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1\n\
             ReturnToService=2\nSlurmctldTimeout=30\nSlurmdTimeout=8\nInactiveLimit=0\nKillWait=5\nCompleteWait=0\n\
             JobRequeue=1\nMaxArraySize=1001\n",
            ports[0]
        );
        for (node, port) in ports[1..].iter().enumerate() {
            config += &format!(
                "NodeName=n{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2048\n"
            );
        }
        config += "PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        std::fs::write(self.config(), config).unwrap();
    }

    fn config(&self) -> PathBuf {
        self.at("slurm.conf")
    }

    /// A command that talks to this cluster.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        self.adapt(&mut command);
        command
    }

    /// Lets a command talk to this cluster.
    pub fn adapt(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("SLURM_CONF", self.config()).env("PATH", format!("{PATH}:{path}"));
    }

    fn daemon(&self, program: &str, arguments: &[&str]) -> Child {
        self.command(program)
            .arg("-D")
            .arg("-f")
            .arg(self.config())
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    pub fn start_node(&mut self, node: usize) {
        self.nodes[node] = Some(self.daemon("slurmd", &["-N", &format!("n{node}")]));
    }

    /// The node is gone from one moment to the next; what ran on it runs on, unseen.
    pub fn kill_node(&mut self, node: usize) {
        let mut child = self.nodes[node].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Nodes that take work.
    pub fn idle(&self) -> usize {
        let output = self.command("sinfo").args(["-h", "-N", "-o", "%t"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|state| ["idle", "mix", "alloc"].contains(state)).count()
    }

    pub fn queue(&self) -> Vec<Task> {
        let ask = || self.command("squeue").args(["-h", "-r", "-o", "%i|%T|%N"]).output().unwrap();
        // Without an answer the queue is unknown, not empty.
        let answered = (0..5).map(|_| ask()).find(|output| output.status.success());
        let text = String::from_utf8(answered.expect("squeue answers").stdout).unwrap();
        let task = |line: &str| {
            let mut fields = line.split('|').map(str::to_owned);
            Some(Task { name: fields.next()?, state: fields.next()?, node: fields.next()? })
        };
        text.lines().filter_map(task).collect()
    }

    /// What the controller has written.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.at("log/slurmctld.log")).unwrap_or_default()
    }

    pub fn wait(&self, what: &str, seconds: u64, holds: impl Fn(&Cluster) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            if begun.elapsed() > Duration::from_secs(seconds) {
                let log = self.log();
                let tail: Vec<&str> = log.lines().rev().take(30).collect();
                panic!("timed out: {what}\n{:?}\n{}", self.queue(), tail.join("\n"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(controller) = &mut self.controller
            && controller.try_wait().is_ok_and(|status| status.is_none())
        {
            let mut cancel = Command::new("timeout");
            self.adapt(cancel.args(["5", "scancel", "--me"]));
            let _ = cancel.status();
            std::thread::sleep(Duration::from_millis(500));
        }
        let daemons = self.nodes.iter_mut().flatten().chain(&mut self.controller).chain(&mut self.munged);
        for child in daemons {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Ports nobody listens on.
fn free_ports(count: usize) -> Vec<u16> {
    let held: Vec<TcpListener> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    held.iter().map(|listener| listener.local_addr().unwrap().port()).collect()
}
