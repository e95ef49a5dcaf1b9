// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! desynctool_branches.rs: records the branches that a simulation takes, by ../c/desynctool_branches.h. Compile that with
//! DESYNCTOOL_BRANCHES_IMPLEMENTATION, link it (-C link-arg=branches.o), and compile the game with
//!
//!     -g -C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3 -C llvm-args=-sanitizer-coverage-trace-pc-guard
//!
//! A game returns a `BranchRecorder` from `Game::branches`. docs/code.md has the rest.
use crate::desynctool::{Branches, Error, Flow, Result};
use std::ffi::{c_char, CStr, CString};

extern "C" {
    fn desync_branches(mode: u32, file: *const c_char, stop: u64, flows: *mut Flow, n: *mut usize) -> *const c_char;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct BranchRecorder;

impl Branches for BranchRecorder {
    fn record(&mut self, mode: u32, file: &str, stop: u64) -> Result<Vec<Flow>> {
        let file = CString::new(file).map_err(|_| Error::from("a path with NUL"))?;
        let (mut flows, mut n) = (vec![Flow::default(); 64], 0);
        // SAFETY: there is room for the flows of DESYNC_BRANCHES_THREADS threads.
        let err = unsafe { desync_branches(mode, file.as_ptr(), stop, flows.as_mut_ptr(), &mut n) };
        if !err.is_null() {
            // SAFETY: an error is a text that ends with NUL and lives for ever.
            return Err(Error::from(unsafe { CStr::from_ptr(err) }.to_string_lossy().into_owned()));
        }
        flows.truncate(n);
        Ok(flows)
    }
}
