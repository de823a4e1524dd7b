//go:build linux

package guest

import "os"

// scratchParents are the directories that may have scratch directories, the preferred
// first.
func scratchParents() []string {
	parents := []string{"/dev/shm", "/tmp", "/var/tmp"}
	if dir := os.Getenv("TMPDIR"); dir != "" {
		parents = append([]string{dir}, parents...)
	}
	return parents
}

// Sweep removes the scratch directories of this user's that killed processes have left:
// a cleaner that is killed too cannot. The next guest does so as well. It returns what
// it has removed.
func Sweep() (removed []string) {
	for _, path := range scratchParents() {
		parent, err := openParent(path)
		if err != nil {
			continue
		}
		removed = append(removed, sweep(parent)...)
		parent.Close()
	}
	return removed
}
