//go:build !portable

package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sirdbed/capture/report"
)

func newPs() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "ps",
		Short: "List the fabrics that are up, and the programs in them",
		Long: text(`
			List the fabrics of this user that are up, by sirdbed up or by a run: engine, hosts, age, user, scenario,
			the processes that keep each up, and the programs started in it.`),
		Example: examples(`
			sirdbed ps
			sirdbed ps --json`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := states()
			if err != nil {
				return err
			}
			list.warn(c.ErrOrStderr())
			fabrics := []ListedFabric{}
			for i := range list.live {
				fabrics = append(fabrics, listed(&list.live[i]))
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), fabrics)
			}
			return printFabrics(c, fabrics)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// A ListedFabric is a fabric as ps shows it.
type ListedFabric struct {
	Name     string    `json:"name"`
	By       string    `json:"by"` // what keeps it: up or run
	Engine   string    `json:"engine"`
	Hosts    int       `json:"hosts"`
	Age      float64   `json:"age_seconds"`
	User     string    `json:"user"`
	Scenario string    `json:"scenario"` // the file
	PIDs     []int     `json:"pids"`     // of what keeps it up
	Programs []Program `json:"programs"`
}

func listed(s *State) ListedFabric {
	by := "run"
	if s.Up {
		by = "up"
	}
	keepers, programs := s.inhabitants()
	return ListedFabric{
		Name: s.Run, By: by, Engine: s.Engine, Hosts: s.Topology.Leaves * s.Topology.HostsPerLeaf,
		Age: time.Since(s.Started).Seconds(), User: userName(), Scenario: s.File, PIDs: keepers,
		Programs: append([]Program{}, programs...),
	}
}

// userName is that of this process's user, whose fabrics are seen.
func userName() string {
	id := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func printFabrics(c *cobra.Command, fabrics []ListedFabric) error {
	out := c.OutOrStdout()
	if len(fabrics) == 0 {
		_, err := fmt.Fprintln(out, "no fabric of this user is up")
		return err
	}
	t := newTable(out, "name", "by", "engine", "hosts", "age", "user", "pids", "scenario")
	for _, f := range fabrics {
		age := time.Duration(f.Age * float64(time.Second)).Round(time.Second)
		pids := strings.Trim(fmt.Sprint(f.PIDs), "[]")
		if len(f.PIDs) > maxPIDs {
			pids = fmt.Sprintf("%s and %d more", strings.Trim(fmt.Sprint(f.PIDs[:maxPIDs]), "[]"), len(f.PIDs)-maxPIDs)
		}
		t.row(f.Name, f.By, f.Engine, strconv.Itoa(f.Hosts), age.String(), f.User, pids, report.Printable(f.Scenario))
	}
	if err := t.render(); err != nil {
		return err
	}
	for _, f := range fabrics {
		for _, p := range f.Programs {
			_, err := fmt.Fprintf(out, "in %s, %s: %d %s\n", f.Name, p.Node, p.PID, report.Printable(p.Command))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// maxPIDs is how many processes a line has room for.
const maxPIDs = 3
