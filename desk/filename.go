package desk

import (
	"context"
	"slices"
)

// nameFiles gives a bundle and its receipts the file names that the store uses, see NameFiles.
func (tx *Tx) nameFiles(ctx context.Context, bundle int64, readings []Reading) error {
	if tx.store.fileName == nil {
		return nil
	}
	var known []string
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
	known = slices.Compact(known)
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

// nameOfFile is nameFiles for one name of a bundle that arrives again.
func (tx *Tx) nameOfFile(ctx context.Context, b *Bundle, name string) (string, error) {
	if tx.store.fileName == nil || b.State != Read || name == b.Name {
		return name, nil
	}
	known, err := valuesOf[string](ctx, tx, "bundle.peers", b.ID)
	return tx.store.fileName(name, known), err
}
