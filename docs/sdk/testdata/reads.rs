//! Reads one .snap after another from stdin, each after its length in 4 bytes, and prints for each "ok" or why it is
//! refused. With an argument it prints instead of "ok" the hash of the state that was read, and whether it is written
//! as the same bytes.
#[path = "../rust/desynctool.rs"]
mod desynctool;

use desynctool::Snapshot;
use std::io::{self, Read, Write};

fn main() -> desynctool::Result<()> {
    let hashes = std::env::args().count() > 1;
    let (mut from, mut to) = (io::BufReader::new(io::stdin().lock()), io::BufWriter::new(io::stdout().lock()));
    let mut head = [0; 4];
    while from.read_exact(&mut head).is_ok() {
        let mut file = vec![0; u32::from_le_bytes(head) as usize];
        from.read_exact(&mut file)?;
        let s = match Snapshot::read(&file) {
            Ok(s) => s,
            Err(why) => {
                writeln!(to, "{why}")?;
                continue;
            }
        };
        let again = s.world.snapshot(&s.at)?;
        // Integers may have been of another form; the state is the same.
        assert!(again == file || Snapshot::read(&again)?.hash == s.hash);
        if hashes {
            let digits: String = s.hash.iter().map(|b| format!("{b:02x}")).collect();
            writeln!(to, "{digits} {}", if again == file { "same" } else { "other bytes" })?;
        } else {
            writeln!(to, "ok")?;
        }
    }
    Ok(to.flush()?)
}
