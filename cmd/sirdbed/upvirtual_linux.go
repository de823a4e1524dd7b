//go:build !portable

package main

import (
	"context"
	"errors"
)

func (s *State) ask(node string, command []string) error { return errors.New("later") }
func (s *State) programsInGuest() []Program              { return nil }
func (s *standing) onVirtual(ctx context.Context) error  { return errors.New("later") }
