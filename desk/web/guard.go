package web

import (
	"html/template"
	"reflect"
	"text/template/parse"

	"github.com/desynctool/desynctool/report/document"
)

// guard makes every value in the templates go through printable, so that no template can forget it.
func guard(t *template.Template) {
	for _, one := range t.Templates() {
		if one.Tree != nil {
			guardList(one.Tree.Root)
		}
	}
}

func guardList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{
					NodeType: parse.NodeCommand, Pos: n.Pos,
					Args: []parse.Node{parse.NewIdentifier("printable").SetTree(nil).SetPos(n.Pos)},
				})
			}
		case *parse.IfNode:
			guardList(n.List)
			guardList(n.ElseList)
		case *parse.RangeNode:
			guardList(n.List)
			guardList(n.ElseList)
		case *parse.WithNode:
			guardList(n.List)
			guardList(n.ElseList)
		}
	}
}

// printable escapes non-printable characters in any kind of string.
func printable(v any) any {
	if r := reflect.ValueOf(v); r.Kind() == reflect.String {
		return document.Safe(r.String())
	}
	return v
}
