package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
)

// session is the life of a worker for a PostgreSQL server: a connection with an advisory lock. The server releases the
// lock when the connection ends. If the machine no longer answers, that takes half a minute.
type session struct {
	db     *sql.DB
	conn   *sql.Conn // nil while there is none
	number int32
}

// lockClass is the first number of the locks of workers.
const lockClass = 0x64736b77 // "dskw"

func workerID(number int32) string { return fmt.Sprintf("worker-%08x", uint32(number)) }

func (s *session) id() string { return workerID(s.number) }

// keep checks the connection, or creates a new one with the same lock.
func (s *session) keep(ctx context.Context) error {
	if s.conn != nil {
		if _, err := s.conn.ExecContext(ctx, `SELECT 1`); err == nil || ctx.Err() != nil {
			return err
		}
		s.conn.Close()
		s.conn = nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	for _, set := range []string{"tcp_keepalives_idle = 15", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3"} {
		if _, err := conn.ExecContext(ctx, "SET "+set); err != nil {
			return errors.Join(err, conn.Close())
		}
	}
	number := s.number
	for {
		if s.number == 0 {
			number = rand.Int32()
		}
		var got bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1, $2)`, lockClass, number).Scan(&got); err != nil {
			return errors.Join(err, conn.Close())
		}
		switch {
		case got && number != 0:
			s.conn, s.number = conn, number
			return nil
		case s.number != 0: // by the previous connection, if the server does not know yet that it is gone
			return conn.Close()
		}
	}
}

func (s *session) alive(ctx context.Context, ids []string) (map[string]bool, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1 AND objsubid = 2 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockClass)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	alive := map[string]bool{}
	for rows.Next() {
		var number int64
		if err := rows.Scan(&number); err != nil {
			return nil, err
		}
		alive[workerID(int32(uint32(number)))] = true
	}
	return alive, rows.Err()
}

// Close releases the lock. If that fails, the connection is gone, and so is the lock.
func (s *session) Close() error {
	if s.conn != nil {
		_, _ = s.conn.ExecContext(context.Background(), `SELECT pg_advisory_unlock($1, $2)`, lockClass, s.number)
		s.conn.Close()
	}
	return nil
}
