package scenarios

import (
	"fmt"
	"slices"

	"sirdbed/emu"
)

// validateApps checks the programs: where they run, what they wait for, and how they are
// ready and end.
func (s *Scenario) validateApps() *Error {
	var names []string
	for i := range s.Apps {
		names = append(names, s.Apps[i].Name)
	}
	for i := range s.Apps {
		path := fmt.Sprintf("apps[%d].", i)
		a := &s.Apps[i]
		if len(a.Run) == 0 || a.Run[0] == "" {
			return s.src.errorIn(path+"run", "missing: want the program and its arguments, such as [ping, -c, 3, h1-2]")
		}
		if _, ok := s.fabric.Node(a.Host); !ok {
			return s.src.errorIn(path+"host", "no host is called %q: hosts are %s to %s", a.Host, s.fabric.HostName(0),
				s.fabric.HostName(s.fabric.Hosts[len(s.fabric.Hosts)-1]))
		}
		if !nameOK(a.Name) {
			return s.src.errorIn(path+"name", "%q: want small letters, digits, dots and dashes", a.Name)
		}
		if j := slices.Index(names, a.Name); j != i {
			return s.src.errorIn(path+"name", "app %d is called %q too: give this one another name", j+1, a.Name)
		}
		if err := s.validateApp(a, path, names); err != nil {
			return err
		}
	}
	return s.validateAppOrder()
}

// validateApp checks what an app says of itself.
func (s *Scenario) validateApp(a *emu.App, path string, names []string) *Error {
	for j, name := range a.After {
		if !slices.Contains(names, name) {
			return s.src.errorIn(fmt.Sprintf("%safter[%d]", path, j), "no app is called %q: %s", name,
				hintOf(name, names))
		}
	}
	if _, err := a.Readiness(); err != nil {
		return s.src.errorIn(path+"ready", "%v", err)
	}
	if _, _, err := a.ExpectedExit(); err != nil {
		return s.src.errorIn(path+"expect", "%v", err)
	}
	if a.Restarts > 0 && a.Restart != emu.RestartOnFailure {
		return s.src.errorIn(path+"restarts", "it is never started again: want restart: %s with it",
			emu.RestartOnFailure)
	}
	return nil
}

// validateAppOrder finds apps that wait for one another.
func (s *Scenario) validateAppOrder() *Error {
	started := map[string]bool{}
	for range s.Apps {
		for i := range s.Apps {
			waits := slices.ContainsFunc(s.Apps[i].After, func(name string) bool { return !started[name] })
			started[s.Apps[i].Name] = started[s.Apps[i].Name] || !waits
		}
	}
	for i := range s.Apps {
		if !started[s.Apps[i].Name] {
			return s.src.errorIn(fmt.Sprintf("apps[%d].after", i), "%s waits for itself, by way of others",
				s.Apps[i].Name)
		}
	}
	return nil
}
