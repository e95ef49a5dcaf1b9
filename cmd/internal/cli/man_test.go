package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestManPage pins a page byte by byte: macros belong to man(7), escapes to groff(7).
func TestManPage(t *testing.T) {
	root := &cobra.Command{Use: "desynctool", CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}}
	color := "auto"
	root.PersistentFlags().Var(OneOf(&color, "WHEN", "auto", "always", "never"), "color", "colour the text")
	c := &cobra.Command{
		Use:   "look FILE",
		Short: "Look at a file's bytes",
		Long: `look prints C:\ and ~ and "é", as --hex-dump does.
.SH would be a macro.

  one        the first
  --two N    the second,
             continued

As in git:

  git config a.b 'c'
    .d

Exit status:
  0  done
  2  not`,
		Example: "  desynctool look a-b",
		RunE:    func(cmd *cobra.Command, args []string) error { return nil },
	}
	c.Flags().IntP("number", "n", 3, "how many")
	root.AddCommand(c)
	date := "2026-03-04T05:06:07Z"
	want := `.TH "DESYNCTOOL\-LOOK" "1" "2026\-03\-04" "desynctool v1.2.3" "desynctool"
.nh
.ad l
.SH "NAME"
desynctool\-look \- look at a file\(aqs bytes
.SH "SYNOPSIS"
\fBdesynctool look\fR FILE [flags]
.SH "DESCRIPTION"
look prints C:\e and \(ti and "\[u00E9]", as \fB\-\-hex\-dump\fR does.
\&.SH would be a macro.
.TP
\fBone\fR
the first
.TP
\fB\-\-two N\fR
the second,
continued
.PP
As in git:
.PP
.RS 4
.EX
git config a.b \(aqc\(aq
  .d
.EE
.RE
.SH "OPTIONS"
.TP
\fB\-h\fR, \fB\-\-help\fR
help for look
.TP
\fB\-n\fR, \fB\-\-number\fR \fIN\fR
how many (default 3)
.SH "GLOBAL OPTIONS"
.TP
\fB\-\-color\fR \fIWHEN\fR
colour the text (default auto)
.SH "EXIT STATUS"
.TP
\fB0\fR
done
.TP
\fB2\fR
not
.SH "EXAMPLES"
.RS 4
.EX
desynctool look a\-b
.EE
.RE
.SH "SEE ALSO"
.BR desynctool (1)
`
	if diff := cmp.Diff(want, string(manPage(c, Build{Version: "v1.2.3", Date: &date}))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
