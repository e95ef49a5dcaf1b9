package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Times of a server.
const (
	headerTime = 10 * time.Second
	idleTime   = 60 * time.Second
	maxHeader  = 16 << 10
	// EndTime is how long requests may continue when the server ends.
	EndTime = 30 * time.Second

	deliverEvery = 5 * time.Second
	sweepEvery   = 10 * time.Minute
)

// CheckListen checks whether a door may listen at an address. Beyond this machine, or behind a proxy, it needs a token.
// loopback reports whether only this machine can reach it.
func CheckListen(a net.Addr, hasToken, proxied bool) (loopback bool, err error) {
	tcp, ok := a.(*net.TCPAddr)
	loopback = ok && tcp.IP.IsLoopback()
	switch {
	case hasToken:
	case proxied:
		err = errors.New("a proxy brings requests from other machines, and there is no token; desynctool desk token add makes one")
	case !loopback:
		err = errors.New(a.String() + " is reached from other machines, and there is no token; desynctool desk token add makes one")
	}
	return loopback, err
}

// Serve serves a Door, delivers to webhooks, and cleans up, until ctx is done. Then it accepts no more requests and
// finishes the current ones, for EndTime at most. It closes l. With a certificate it uses TLS.
func (d *Door) Serve(ctx context.Context, l net.Listener, certificate *tls.Certificate) error {
	server := &http.Server{
		Handler: d, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader, ErrorLog: d.log,
	}
	k := newKeeper(l, d.limits.Connections, !d.Proxied)
	l, server.ConnState, server.ConnContext = k, k.changed, inConn
	if certificate != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	}
	var work sync.WaitGroup
	background, stop := context.WithCancel(ctx)
	work.Go(func() {
		d.every(background, deliverEvery, func(ctx context.Context) error { return d.deliver(ctx, &work) })
	})
	work.Go(func() { d.every(background, sweepEvery, d.Sweep) })
	ended := make(chan error, 1)
	go func() {
		if certificate != nil {
			ended <- server.ServeTLS(l, "", "")
		} else {
			ended <- server.Serve(l)
		}
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), EndTime)
		defer cancel()
		if err = server.Shutdown(end); err != nil {
			err = errors.Join(errors.New("not all requests ended in time"), server.Close())
		}
		<-ended
	}
	stop()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// every calls a function regularly, and logs its errors.
func (d *Door) every(ctx context.Context, t time.Duration, f func(context.Context) error) {
	tick := time.NewTicker(t)
	defer tick.Stop()
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			d.log.Printf("error: %s", label(err.Error()))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
