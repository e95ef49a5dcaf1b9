//go:build unix

// Package desktest starts databases for tests of the desk.
package desktest

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// Variable is an environment variable. If it is set, a missing PostgreSQL fails a test instead of skipping it.
const Variable = "DESYNCTOOL_POSTGRES_TESTS"

// Server is a separate PostgreSQL server on a loopback port, with its files in a temporary folder.
type Server struct {
	Dir  string
	Port int

	bin  string
	cred *syscall.Credential // user to run as, because it does not run as root
	cmd  *exec.Cmd
	over chan struct{} // closed when cmd has ended
}

// programs returns the folder of initdb and postgres, empty if they are not installed.
func programs() string {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(list) == 0 {
		if path, err := exec.LookPath("initdb"); err == nil {
			return filepath.Dir(path)
		}
		return ""
	}
	return filepath.Dir(slices.Max(list))
}

// Start starts a server that ends with the test. It skips the test unless the tests try everything or [Variable] is
// set, and if PostgreSQL is not installed. With Variable set, a missing PostgreSQL fails the test.
func Start(t testing.TB) *Server {
	t.Helper()
	wanted(t)
	bin := programs()
	if bin == "" {
		if os.Getenv(Variable) != "" {
			t.Fatal("PostgreSQL is not installed")
		}
		t.Skip("PostgreSQL is not installed")
	}
	s, err := newServer(bin)
	if s != nil {
		t.Cleanup(s.remove)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wanted skips a test unless it may start a server, which takes longer than the test itself.
func wanted(t testing.TB) {
	t.Helper()
	if !effort.Full() && !effort.Asked(Variable) {
		t.Skipf("neither DESYNCTOOL_FULL_TESTS nor %s is 1, or it is not the turn of the package", Variable)
	}
}

func newServer(bin string) (*Server, error) {
	dir, err := os.MkdirTemp("", "desk-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, bin: bin}
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			return s, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			return s, err
		}
		for d := dir; d != "/"; d = filepath.Dir(d) { // TMPDIR may be closed to others
			if info, err := os.Stat(d); err == nil && info.Mode()&0o005 != 0o005 && d != dir {
				return s, fmt.Errorf("%s: user postgres cannot enter it", d)
			}
		}
	}
	out, err := s.command("initdb", "-D", filepath.Join(dir, "data"), "-U", "desk", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("initdb: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return s, err
	}
	s.Port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	return s, s.Run()
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.Dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred, Setpgid: true}
	return cmd
}

// Run starts the server, which must not be running, and waits until it answers. It retries if processes of a killed
// server have not ended yet.
func (s *Server) Run() error {
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	start := func() error {
		s.cmd = s.command("postgres", "-D", "data", "-p", strconv.Itoa(s.Port), "-h", "127.0.0.1", "-k", s.Dir, "-c", "max_connections=60",
			"-c", "fsync=off", "-c", "full_page_writes=off") // after a kill, the data is in the system's cache
		s.cmd.Stdout, s.cmd.Stderr = log, log
		if err := s.cmd.Start(); err != nil {
			return err
		}
		cmd, over := s.cmd, make(chan struct{})
		s.over = over
		go func() {
			cmd.Wait()
			close(over)
		}()
		return nil
	}
	if err := start(); err != nil {
		return err
	}
	db, err := sql.Open("pgx", Plain(s.URL("postgres")))
	if err != nil {
		return err
	}
	defer db.Close()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		err = db.PingContext(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server does not answer: %w: %s", err, text[max(0, len(text)-4000):])
		}
		select {
		case <-s.over:
			if err := start(); err != nil {
				return err
			}
		default:
		}
	}
}

// Kill ends the server with all of its processes at once, like a loss of power. Run starts it again.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	// Its processes have their own sessions. A remaining one would hold the memory that the next server needs.
	parent := s.cmd.Process.Pid
	syscall.Kill(parent, syscall.SIGSTOP) // stop it from starting more
	children, _ := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(parent)).Output()
	for field := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	syscall.Kill(-parent, syscall.SIGKILL)
	<-s.over
	s.cmd = nil
	os.Remove(filepath.Join(s.Dir, "data", "postmaster.pid"))
}

func (s *Server) remove() {
	s.Kill()
	os.RemoveAll(s.Dir)
}

// URL returns the address of a database, for a store with the fewest connections that it may have.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("desk"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)), Path: "/" + database, RawQuery: "sslmode=disable" + fewest}
	return u.String()
}

// fewest is the parameter of an address with the fewest connections that a store may have.
const fewest = "&pool_max_conns=2"

// Plain returns the address of a database for sql.Open, which does not know the parameters of a pool.
func Plain(address string) string { return strings.TrimSuffix(address, fewest) }

var databases struct {
	sync.Mutex
	n int
}

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	databases.Lock()
	databases.n++
	name := fmt.Sprintf("desk%d", databases.n)
	databases.Unlock()
	db, err := sql.Open("pgx", Plain(s.URL("postgres")))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	return s.URL(name)
}

// Each runs a test on an empty store of each kind, given as the argument of desk.Open: a folder, and a database on a
// server that the tests of a process share. See [Start] for when it is skipped.
func Each(t *testing.T, f func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, filepath.Join(t.TempDir(), "desk")) })
	t.Run("postgres", func(t *testing.T) { f(t, shared(t).Database(t)) })
}

var one struct {
	sync.Mutex
	server *Server
	err    error
	tried  bool
}

// Database creates an empty database on the server that the tests of a process share, and returns its address.
func Database(t testing.TB) string { return shared(t).Database(t) }

// shared returns the server of this process. Stop ends it.
func shared(t testing.TB) *Server {
	t.Helper()
	wanted(t)
	one.Lock()
	defer one.Unlock()
	if !one.tried {
		one.tried = true
		if bin := programs(); bin != "" {
			one.server, one.err = newServer(bin)
		}
	}
	switch {
	case one.err != nil:
		t.Fatal(one.err)
	case one.server == nil && os.Getenv(Variable) != "":
		t.Fatal("PostgreSQL is not installed")
	case one.server == nil:
		t.Skip("PostgreSQL is not installed")
	}
	return one.server
}

// Main runs the tests of a package that uses Each, and ends the server.
func Main(m *testing.M) int {
	code := m.Run()
	one.Lock()
	defer one.Unlock()
	if one.server != nil {
		one.server.remove()
	}
	return code
}
