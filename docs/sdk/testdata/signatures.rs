//! Does with desynctool.rs what signatures.py describes.
#[path = "../rust/desynctool.rs"]
mod desynctool;

use desynctool::*;
use std::io::{self, BufRead, Read, Write};

fn hex(b: &[u8]) -> String {
    if b.is_empty() {
        return "-".to_string();
    }
    b.iter().map(|b| format!("{:02x}", b)).collect()
}

fn unhex(s: &str) -> Vec<u8> {
    (0..s.len() / 2).map(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn array<const N: usize>(b: &[u8]) -> [u8; N] {
    b[..N].try_into().unwrap()
}

fn write(path: &str) -> Result<()> {
    let mut lines = io::stdin().lock().lines();
    let first = lines.next().unwrap()?;
    let words: Vec<&str> = first.split(' ').collect();
    let secret: [u8; 32] = array(&unhex(words[3]));
    let peer = String::from_utf8(unhex(words[1])).unwrap();
    let signer = match words[4] {
        "own" => Signer::Secret(secret),
        _ => Signer::Store { key: public_key(&secret), sign: Box::new(move |message| Ok(sign(&secret, message))) },
    };
    let mut chain = TickSignatures::create(path, words[0].parse().unwrap(), &peer, &array(&unhex(words[2])), signer)?;
    for line in lines {
        let line = line?;
        if line == "close" {
            chain.close()?;
            return Ok(());
        }
        let (tick, hash) = line.split_once(' ').unwrap();
        match chain.append(tick.parse().unwrap(), &array(&unhex(hash))) {
            Ok(()) => println!("{}", tick),
            Err(_) => println!("refused"),
        }
        io::stdout().flush()?;
    }
    std::process::exit(0)
}

fn number(v: Option<u64>) -> String {
    v.map_or("-".to_string(), |v| v.to_string())
}

fn check(r: &[u8]) -> String {
    let trusted = array(&r[1..33]);
    let c = match CheckedSignatures::read(&r[41..], if r[0] != 0 { Some(&trusted) } else { None }) {
        Ok(c) => c,
        Err(_) => return "refused".to_string(),
    };
    let state = c.state_hash(u64::from_le_bytes(array(&r[33..])));
    let mut said = format!(
        "{} {} {} {} {} {} {} {} {} {}",
        c.seed,
        hex(&c.peer),
        hex(&c.key),
        hex(&c.start),
        c.entries,
        c.bound.len(),
        c.closed as u8,
        c.whole() as u8,
        c.found,
        state.map_or("-".to_string(), |h| hex(&h))
    );
    for f in &c.findings {
        said += &format!(" {}@{}#{}:{}:{}", f.kind as u8, f.offset, f.entry, number(f.after), number(f.tick));
    }
    said
}

fn measure(n: u64) {
    let secret = [0; 32];
    let mut chain = TickSignatures::new(Vec::new(), 0, "", &secret, Signer::Secret(secret)).unwrap();
    let begin = std::time::Instant::now();
    for tick in 0..n {
        chain.append(tick, &secret).unwrap();
    }
    let signing = begin.elapsed();
    let file = chain.close().unwrap();
    let begin = std::time::Instant::now();
    assert!(CheckedSignatures::read(&file, None).unwrap().bound.len() as u64 == n);
    println!("{:.0} {:.0}", n as f64 / signing.as_secs_f64(), n as f64 / begin.elapsed().as_secs_f64());
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "write" => return write(&args[2]),
        "time" => measure(args[2].parse().unwrap()),
        "words" => {
            use FindingKind::*;
            for kind in [OtherKey, Corrupt, Tampered, Missing, Contradiction, Skipped, MissingAtEnd, Open] {
                println!("{}", kind.words());
            }
        }
        mode => {
            let mut stdin = io::stdin().lock();
            let mut head = [0; 4];
            while stdin.read_exact(&mut head).is_ok() {
                let mut r = vec![0; u32::from_le_bytes(head) as usize];
                stdin.read_exact(&mut r)?;
                match mode {
                    "check" => println!("{}", check(&r)),
                    "verify" => println!("{}", verify(&array(&r), &r[96..], &array(&r[32..])) as u8),
                    _ => println!("{} {}", hex(&public_key(&array(&r))), hex(&sign(&array(&r), &r[32..]))),
                }
            }
        }
    }
    Ok(())
}
