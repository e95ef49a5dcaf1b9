package powerloss

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Recording is what a program did to a folder.
type Recording struct {
	root  string
	calls []call
}

// call is a system call that succeeded.
type call struct {
	name, line string
	args       []arg
	result     int
	path       string // of a file that it opened
}

type arg struct {
	text string // of a string, or a word
	fd   int    // of an open file
	path string // the same
}

// traced are the calls that change a folder, or give numbers to files.
const traced = "openat,open,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,sync_file_range,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,ftruncate,truncate,fallocate,copy_file_range,close,lseek,linkat,link,dup,dup2,dup3"

// Record runs a program that changes an empty folder and prints lines, and does nothing but write in that folder. Only
// the program is recorded, not its children. It needs strace.
func Record(cmd *exec.Cmd, folder string) (*Recording, error) {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp("", "powerloss-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	args := append([]string{"-f", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e", "trace=" + traced, "-o", out.Name(), "--", cmd.Path}, cmd.Args[1:]...)
	strace := exec.Command("strace", args...)
	strace.Env, strace.Dir = cmd.Env, cmd.Dir
	if text, err := strace.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("strace: %w: %.2000s", err, text)
	}
	r := &Recording{root: root}
	in := bufio.NewScanner(out)
	in.Buffer(nil, 1<<30)
	begun := map[string]string{} // calls that another thread interrupted
	for in.Scan() {
		process, line, _ := strings.Cut(in.Text(), " ")
		line = strings.TrimLeft(line, " ")
		if head, ok := strings.CutSuffix(line, " <unfinished ...>"); ok {
			begun[process] = head
			continue
		}
		if _, tail, ok := strings.Cut(line, " resumed>"); ok && strings.HasPrefix(line, "<... ") {
			line = begun[process] + tail
		}
		c, ok := parse(line)
		if ok && r.concerns(c) {
			r.calls = append(r.calls, c)
		}
	}
	return r, in.Err()
}

var (
	callForm = regexp.MustCompile(`^(\w+)\((.*)\)\s+= (-?\d+)(?:<((?:\\x[0-9a-f]{2})*)>)?`)
	argForm  = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"|(AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>(?:\(deleted\))?|[^,\s]+`)
)

// parse reads a line of strace. It leaves out calls that failed.
func parse(line string) (call, bool) {
	m := callForm.FindStringSubmatch(line)
	if m == nil {
		return call{}, false
	}
	c := call{name: m[1], line: line[:min(len(line), 200)], path: text(m[4])}
	c.result, _ = strconv.Atoi(m[3])
	for _, a := range argForm.FindAllStringSubmatch(m[2], -1) {
		x := arg{text: a[0], fd: -1}
		switch {
		case strings.HasPrefix(a[0], `"`):
			x.text = text(a[1])
		case a[2] != "":
			x.path = text(a[3])
			if n, err := strconv.Atoi(a[2]); err == nil {
				x.fd = n
			}
		}
		c.args = append(c.args, x)
	}
	return c, c.result >= 0
}

func text(escaped string) string {
	b, _ := hex.DecodeString(strings.ReplaceAll(escaped, `\x`, ""))
	return string(b)
}

// in reports whether a path is in the folder, or is the folder.
func (r *Recording) in(path string) bool {
	return path == r.root || strings.HasPrefix(path, r.root+"/")
}

// concerns reports whether a call is about the folder, or prints.
func (r *Recording) concerns(c call) bool {
	if c.name == "write" && len(c.args) > 0 && c.args[0].fd == 1 || r.in(c.path) {
		return true
	}
	for i, a := range c.args {
		if r.in(a.path) && a.fd >= 0 || i < 4 && strings.HasPrefix(a.text, "/") && r.in(filepath.Clean(a.text)) {
			return true
		}
	}
	return false
}

// run does a call to the disk, and returns the file that it wrote to.
func (d *disk) run(c call) (wrote *inode, err error) {
	var paths []string
	for _, a := range c.args {
		if strings.HasPrefix(a.text, "/") {
			paths = append(paths, filepath.Clean(a.text))
		}
	}
	var o *open
	if len(c.args) > 0 {
		o = d.open[c.args[0].fd]
	}
	number := func(i int) int64 {
		n, err := strconv.ParseInt(c.args[i].text, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("%s: argument %d is no number", c.line, i))
		}
		return n
	}
	switch c.name {
	case "exit":
	case "openat", "open":
		return nil, d.opened(c, paths)
	case "write":
		data := []byte(c.args[1].text)[:c.result]
		if o == nil {
			d.printed.Write(data)
			return nil, nil
		}
		if o.append {
			o.at = int64(len(o.now))
		}
		o.change(change{o.at, bytes.Clone(data)})
		o.at += int64(c.result)
		return o.inode, nil
	case "pwrite64":
		o.change(change{number(3), []byte(c.args[1].text)[:c.result]})
		return o.inode, nil
	case "ftruncate":
		o.change(change{at: number(1)})
	case "lseek":
		o.at = int64(c.result)
	case "fsync", "fdatasync":
		d.sync(o)
	case "close":
		delete(d.open, c.args[0].fd)
	case "rename", "renameat", "renameat2":
		if i := d.names[paths[0]]; i == nil || i.folder {
			return nil, errNotSimulated
		}
		d.name(naming{paths[1]: d.names[paths[0]], paths[0]: nil})
	case "unlink", "unlinkat", "rmdir":
		d.name(naming{paths[0]: nil})
	case "mkdir", "mkdirat":
		d.name(naming{paths[0]: &inode{folder: true}})
	case "linkat": // of a file without a name
		n, err := strconv.Atoi(strings.TrimPrefix(paths[0], "/proc/self/fd/"))
		if err != nil || d.open[n] == nil {
			return nil, errNotSimulated
		}
		d.name(naming{paths[1]: d.open[n].inode})
	default:
		return nil, errNotSimulated
	}
	return nil, nil
}

// opened does a call that opened a file.
func (d *disk) opened(c call, paths []string) error {
	flags := c.args[len(c.args)-1].text
	if !strings.Contains(flags, "O_") {
		flags = c.args[len(c.args)-2].text
	}
	if strings.Contains(flags, "O_TMPFILE") {
		d.open[c.result] = &open{inode: &inode{}}
		return nil
	}
	if len(paths) == 0 {
		return errNotSimulated
	}
	i := d.names[paths[0]]
	if i == nil {
		if !strings.Contains(flags, "O_CREAT") {
			return errNotSimulated
		}
		i = &inode{}
		d.name(naming{paths[0]: i})
	}
	if strings.Contains(flags, "O_TRUNC") && len(i.now) > 0 {
		i.change(change{})
	}
	d.open[c.result] = &open{inode: i, path: paths[0], append: strings.Contains(flags, "O_APPEND")}
	return nil
}
