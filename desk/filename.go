package desk

import (
	"context"
	"slices"
)

// knownIn lists the players whom reports name.
func knownIn(readings []Reading) (known []string) {
	for i := range readings {
		r := readings[i].Report
		for j := range r.Peers {
			known = append(known, r.Peers[j].Name)
		}
		for j := range r.Stated {
			for _, value := range r.Stated[j].Values {
				known = append(known, value)
			}
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// HideNames gives a bundle and its receipts file names without the names of players, by the function of NameFiles.
// known begin with their pseudonyms, or are other texts. Put does it for the players whom the reports name.
func (tx *Tx) HideNames(ctx context.Context, bundle int64, known []string) error {
	if tx.store.fileName == nil || len(known) == 0 {
		return nil
	}
	for _, of := range []struct{ list, change string }{{"bundle.file", "bundle.rename"}, {"receipts.files", "receipts.rename"}} {
		names, err := valuesOf[string](ctx, tx, of.list, bundle)
		if err != nil {
			return err
		}
		for _, name := range names {
			if now := tx.store.fileName(name, known); now != name {
				if _, err := tx.run(ctx, of.change, bundle, name, now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// nameOfFile is HideNames for one name of a bundle that arrives again.
func (tx *Tx) nameOfFile(ctx context.Context, b *Bundle, name string) (string, error) {
	if tx.store.fileName == nil || b.State != Read || name == b.Name {
		return name, nil
	}
	known, err := valuesOf[string](ctx, tx, "bundle.peers", b.ID)
	for i := range b.Name { // its name may have pseudonyms too
		known = append(known, b.Name[i:])
	}
	return tx.store.fileName(name, known), err
}
