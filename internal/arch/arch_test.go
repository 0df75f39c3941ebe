package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/wheelmq/wheelmq"
)

// layers are the packages from the top down: an import may only point to a later line. A
// package is in the layer of its longest matching prefix.
var layers = []string{
	"tools", "cmd", "wheelmqtest", "admin/explain", "admin/doctor", "admin",
	"internal/docs", ".", "testapi", "control", "console", "broker", "broker/virtualtime", "broker/processor",
	"broker/watchdog", "broker/inflight", "broker/registration", "broker/assignment", "broker/transaction", "broker/pop", "broker/pop/journal", "broker/timer", "broker/schedule", "broker/redeliver",
	"broker/park", "broker/append", "broker/client", "broker/offset", "broker/rewind", "broker/lock", "broker/longpoll", "broker/filter", "broker/filter/sql",
	"broker/stats", "broker/subscription", "broker/topic", "broker/attribute", "broker/persist", "namesrv", "server", "store/offline", "store", "store/timer", "store/region",
	"fault", "remoting/client", "remoting/exchangelog", "remoting", "remoting/fastjson", "config", "health", "metrics", "difference", "message", "clock", "durable", "internal/await", "internal/freeport", "internal/arch",
}

type file struct {
	path string // below root
	pkg  string // directory below root, "." for the root package
	ast  *ast.File
}

// files parses every Go file of this module that is no test.
func files(t *testing.T) (list []file, set *token.FileSet) {
	t.Helper()
	set = token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "test" || rel == "bin" || strings.HasPrefix(rel, ".") && rel != "." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		list = append(list, file{rel, filepath.ToSlash(filepath.Dir(rel)), parsed})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("only %d files were found", len(list))
	}
	return list, set
}

func layer(pkg string) int {
	best, at := -1, -1
	for i, l := range layers {
		if (pkg == l || strings.HasPrefix(pkg, l+"/")) && len(l) > best {
			best, at = len(l), i
		}
	}
	return at
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	list, _ := files(t)
	for _, f := range list {
		from := layer(f.pkg)
		if from < 0 {
			t.Errorf("package %s has no layer: decide where it stands", f.pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			rest, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			to := strings.TrimPrefix(rest, "/")
			if to == "" {
				to = "."
			}
			if to != f.pkg && layer(to) <= from {
				t.Errorf("%s imports %s, which stands above it", f.path, to)
			}
		}
	}
}

// wire are the packages that may ask the machine for the time: sockets know no other, and tests that wait.
var wire = []string{"clock", "server", "remoting/client", "internal/await"}

// TestTimeComesFromTheClock bans the machine's time, timers and sleeping everywhere but in the
// clock and on the wire.
func TestTimeComesFromTheClock(t *testing.T) {
	t.Parallel()
	list, set := files(t)
	banned := map[string]bool{"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true, "NewTicker": true, "Tick": true, "Since": true, "Until": true}
	for _, f := range list {
		if slices.Contains(wire, f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && banned[sel.Sel.Name] {
				t.Errorf("%s uses time.%s: use the injected clock", set.Position(n.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

func TestNamesAndDocuments(t *testing.T) {
	t.Parallel()
	list, set := files(t)
	documented := make(map[string]bool)
	for _, f := range list {
		if f.ast.Doc != nil {
			documented[f.pkg] = true
		}
		switch filepath.Base(f.pkg) {
		case "util", "utils", "common", "helper", "helpers", "misc":
			t.Errorf("package %s has a name that says nothing", f.pkg)
		}
		if lines := set.File(f.ast.Pos()).LineCount(); lines > 600 {
			t.Errorf("%s has %d lines: one file, one idea", f.path, lines)
		}
		for _, d := range f.ast.Decls {
			undocumented(t, set, d)
		}
	}
	for _, f := range list {
		if !documented[f.pkg] {
			t.Errorf("package %s has no package comment", f.pkg)
			documented[f.pkg] = true
		}
	}
}

// undocumented names exported declarations without a comment.
func undocumented(t *testing.T, set *token.FileSet, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			t.Errorf("%s: %s has no comment", set.Position(d.Pos()), d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: type %s has no comment", set.Position(s.Pos()), s.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: %s has no comment", set.Position(s.Pos()), s.Names[0])
				}
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}
