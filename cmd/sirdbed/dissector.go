package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"sirdbed/baselines/all"
	"sirdbed/emu/tree"
	"sirdbed/sirdnode/wire"
	"sirdbed/sirdnode/wire/dissector"
)

// dissectorFile is the name under which the dissector is installed.
const dissectorFile = "sirdbed.lua"

func newDissector() *cobra.Command {
	c := &cobra.Command{
		Use:   "dissector",
		Short: "Print or install a dissector for Wireshark",
		Long: text(`
			Print a dissector for Wireshark and tshark, in Lua, that decodes the headers of all protocols: types and
			flags by name, every field under a name for filters, such as sird.credit or homa.type == 2, the CRC32C and
			the payload's length. The columns Protocol and Info show the protocol, and the packet's type, message,
			offset, credit and flags.

			sirdbed dissector install puts it where Wireshark looks.`),
		Example: examples(`
			sirdbed dissector install
			sirdbed dissector > sirdbed.lua
			tshark -X lua_script:sirdbed.lua -r leaf1.pcapng -Y 'sird.csn == 1'`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			return dissector.Write(c.OutOrStdout(), wireProtocols())
		},
	}
	c.AddCommand(newDissectorInstall())
	return c
}

func newDissectorInstall() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "install",
		Short: "Put the dissector where Wireshark looks",
		Long: text(`
			Write the dissector as ` + dissectorFile + ` into Wireshark's personal directory of Lua plugins: the
			configuration's, ~/.config/wireshark/plugins, if there is one, else ~/.local/lib/wireshark/plugins, which is
			created. On Windows it is %APPDATA%\Wireshark\plugins. tshark -G folders lists the directories of other
			installations: name one with --dir.

			A dissector of another sirdbed is replaced; any other file of that name is left alone, and is an error.
			Wireshark loads it at its next start, or by Analyze, Reload Lua Plugins.`),
		Example: examples(`
			sirdbed dissector install
			sirdbed dissector install --dir /usr/lib/x86_64-linux-gnu/wireshark/plugins`),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if dir == "" {
				var err error
				if dir, err = pluginDirectory(runtime.GOOS); err != nil {
					return err
				}
			}
			said, err := installDissector(dir)
			if err == nil {
				_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", filepath.Join(dir, dissectorFile), said)
			}
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory to write to, made if it is not there")
	completeFlag(c, "dir", directories)
	return c
}

// wireProtocols returns all protocols that travel by ports of their own.
func wireProtocols() (list []wire.Protocol) {
	for _, p := range all.List() {
		if p.Wire.Port != 0 {
			list = append(list, p.Wire)
		}
	}
	return list
}

// pluginDirectory returns the directory from which Wireshark loads this user's plugins
// in Lua.
func pluginDirectory(system string) (string, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("the directory of Wireshark is not known: %w: name one with --dir", err)
	}
	if system == "windows" {
		return filepath.Join(config, "Wireshark", "plugins"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the directory of Wireshark is not known: %w: name one with --dir", err)
	}
	if system == "darwin" { // where os.UserConfigDir is another place than Wireshark's
		if config = os.Getenv("XDG_CONFIG_HOME"); config == "" {
			config = filepath.Join(home, ".config")
		}
	}
	own := filepath.Join(config, "wireshark", "plugins")
	if info, err := os.Stat(own); err == nil && info.IsDir() {
		return own, nil
	}
	return filepath.Join(home, ".local", "lib", "wireshark", "plugins"), nil
}

// installDissector writes the dissector into a directory, unless something else has
// its name. It returns what it did.
func installDissector(path string) (said string, err error) {
	var text bytes.Buffer
	if err := dissector.Write(&text, wireProtocols()); err != nil {
		return "", err
	}
	dir, err := tree.Make(path)
	if err != nil {
		return "", badInput(err)
	}
	defer dir.Close()
	said = "installed"
	if _, err := dir.Lstat(dissectorFile); !errors.Is(err, fs.ErrNotExist) {
		old, err := dir.Read(dissectorFile)
		if err == nil && !bytes.HasPrefix(old, []byte(dissector.Mark)) {
			err = errors.New("is there already, and not sirdbed's")
		}
		switch {
		case err != nil:
			return "", badInput(fmt.Errorf("%s: %w: move it away, or choose another directory with --dir",
				dir.At(dissectorFile), err))
		case bytes.Equal(old, text.Bytes()):
			return "is up to date", nil
		}
		said = "replaced that of another sirdbed"
	}
	return said, dir.WriteText(dissectorFile, text.Bytes())
}
