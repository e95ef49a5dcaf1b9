package verdict

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// answer goes through the steps. After one at which nothing differs, the steps that would narrow it are left out.
func (c *Conclusion) answer(e Evidence) {
	if c.Word != nil {
		c.answerWord()
		return
	}
	c.answerPreflight()
	c.answerInputs()
	if c.Bracket == nil {
		switch {
		case !c.Search.Compares():
			c.put(StepBracket, document.RungOpen, needs(StatesOrHashes)...)
		default:
			c.put(StepBracket, document.RungEqual)
		}
		c.answerChecksums()
		if c.Diverged() {
			c.answerCause()
		}
		c.answerClaims()
		return
	}
	switch {
	case c.InitialState:
		c.put(StepInitial, document.RungFound)
	case c.Bracket.Good != nil || c.Began:
		c.put(StepInitial, document.RungEqual)
	default:
		c.put(StepInitial, document.RungOpen, needs(EarlierState)...)
	}
	c.put(StepBracket, document.RungFound)
	c.answerChecksums()
	c.answerTick()
	c.answerArchetype(e)
	c.answerValues()
	c.answerPeers()
	c.answerCode()
	c.answerCause()
	c.answerClaims()
}

func (c *Conclusion) answerCode() {
	switch {
	case c.Code == nil:
	case c.Code.Kind == document.CodeUnknown:
		c.put(StepCode, document.RungOpen)
	case c.Code.Kind == document.CodeData:
		c.put(StepCode, document.RungEqual)
	default:
		c.put(StepCode, document.RungFound)
	}
}

func (c *Conclusion) answerPreflight() {
	state := document.RungFound
	for _, f := range c.Facts {
		if f.Must {
			state = document.RungTrouble
		}
	}
	if len(c.Lost)+len(c.Lacking)+len(c.Contradictions) > 0 {
		state = document.RungTrouble
	}
	c.put(StepPreflight, state)
}

func (c *Conclusion) answerInputs() {
	switch c.Inputs.State {
	case InputsUnknown:
		if c.Runs == RunsOfSelfTest {
			c.put(StepInputs, document.RungEqual)
			return
		}
		c.put(StepInputs, document.RungOpen, needs(OrderLogs)...)
	case InputsAlone:
		c.put(StepInputs, document.RungOpen, Need{What: OtherPeer, Of: []string{c.OwnReplay.Peer}})
	case InputsApart:
		c.put(StepInputs, document.RungOpen, needs(CommonOrderLogs)...)
	case InputsSameSoFar:
		c.put(StepInputs, document.RungOpen, Need{What: WholeOrderLogs, Of: c.Inputs.Unheard})
	case InputsOther:
		c.put(StepInputs, document.RungFound)
	case InputsLogs:
		c.put(StepInputs, document.RungTrouble)
	default:
		c.put(StepInputs, document.RungEqual)
	}
}

func (c *Conclusion) answerChecksums() {
	if c.Checksums == nil {
		return
	}
	state := document.RungFound
	if c.Checksums.State == SumsBlind {
		state = document.RungTrouble
	}
	c.put(StepChecksums, state)
}

func (c *Conclusion) answerTick() {
	if c.InitialState || c.Loaded != nil {
		return
	}
	late := c.Bracket.Good == nil && c.Bracket.By == bisect.ByChecksums && c.Held.Traces > 1 // the traces differ from where they begin
	blind := c.Kind == bisect.BlindChecksum                                                  // hashes of more ticks, of the same kind, would show no more
	switch {
	case c.Tick != nil:
		c.put(StepTick, document.RungFound)
	case late:
		c.put(StepTick, document.RungOpen, needs(EarlierState)...)
	case blind:
		c.put(StepTick, document.RungOpen, needs(NearerStates, CoveringTraces)...)
	default:
		list := needs(TickHashes, Traces)
		if c.Engine != nil && c.Engine.Offers != nil { // it may have nothing else
			list = append(list, needs(NearerStates)...)
		}
		c.put(StepTick, document.RungOpen, list...)
	}
	switch {
	case c.System != "" || c.Checkpoint != nil && !c.Checkpoint.Nearby || c.SystemBy == SystemByOutside || c.SystemBy == SystemByRestore:
		c.put(StepSystem, document.RungFound)
	case late:
		c.put(StepSystem, document.RungOpen, needs(EarlierState)...)
	case blind:
		c.put(StepSystem, document.RungOpen, needs(CoveringTraces)...)
	default:
		trace := SimulatorTrace
		if c.SimFailed != "" && !c.OwnFailed || c.Unsteady {
			trace = OtherSimulator
		}
		if c.Witnessed != nil { // games report nothing that happens within a tick
			c.put(StepSystem, document.RungOpen, needs(Traces)...)
			return
		}
		c.put(StepSystem, document.RungOpen, needs(Traces, trace)...)
	}
}

func (c *Conclusion) answerArchetype(e Evidence) {
	bad := MomentOf(c.Bracket.Bad)
	root, known := c.Root()
	switch list := c.MayBeFirst(); {
	case known:
		c.put(StepArchetype, document.RungFound)
		switch {
		case root == "":
		case c.Component != "":
			c.put(StepComponent, document.RungFound)
		default:
			c.put(StepComponent, document.RungOpen, needs(ColumnTraces)...)
		}
	case len(c.Archetypes) > 1:
		c.put(StepArchetype, document.RungOpen, needs(ArchetypeTraces)...)
	case len(list) == 1:
		c.put(StepArchetype, document.RungFound)
		if c.Component != "" {
			c.put(StepComponent, document.RungFound)
		}
	case len(list) > 0 && !c.valuesDiffer() && len(c.schema()) == 0:
		c.put(StepArchetype, document.RungOpen, needs(SameColumns)...)
	case len(list) > 1 && c.Kind == bisect.BlindChecksum:
		c.put(StepArchetype, document.RungOpen, needs(NearerStates, CoveringTraces)...)
	case len(list) > 1:
		c.put(StepArchetype, document.RungOpen, needs(NearerStates, ArchetypeTraces)...)
	default:
		c.put(StepArchetype, document.RungOpen, Need{What: States, At: &bad}, Need{What: ArchetypeTraces})
	}
}

// answerValues answers whether the entities and the fields are known.
func (c *Conclusion) answerValues() {
	if c.Compared == nil {
		switch {
		case c.Checkpoint != nil && c.Checkpoint.Nearby:
			c.put(StepField, document.RungFound)
		case c.Checkpoint == nil:
			bad := MomentOf(c.Bracket.Bad)
			c.put(StepField, document.RungOpen, Need{What: States, At: &bad})
		}
		return
	}
	entities, fields := c.first()
	if entities {
		c.put(StepEntity, document.RungFound)
	}
	if root, known := c.Root(); fields || known && root == "" {
		c.put(StepField, document.RungFound)
	}
}

// first reports whether entities, and fields of them, are known that differ in the archetype that diverged first.
func (c *Conclusion) first() (entities, fields bool) {
	root, known := c.Root()
	for i := range c.Locus {
		if f := &c.Locus[i]; !f.Cache && f.Archetype != "" && (!known || f.Archetype == root) {
			entities, fields = true, true
		}
	}
	fields = fields || len(c.schema()) > 0
	for _, rows := range c.Compared.Rows {
		if !rows.Cache && (!known || rows.Archetype == root) && len(rows.Keys) > 0 {
			entities = true
		}
	}
	return entities, fields
}

// schema returns the columns of the archetype that diverged first that are not the same on both sides.
func (c *Conclusion) schema() (list []document.LocusSchema) {
	if c.Compared == nil {
		return nil
	}
	root, known := c.Root()
	return lists.Where(c.Compared.Schema, func(s document.LocusSchema) bool { return !s.Cache && (!known || s.Archetype == root) })
}

// Schema returns the columns of the archetype that diverged first that are not the same on both sides, where no value
// differs in it.
func (c *Conclusion) Schema() []document.LocusSchema {
	if c.valuesDiffer() {
		return nil
	}
	return c.schema()
}

func (c *Conclusion) answerPeers() {
	switch {
	case len(c.Guilty) > 0 || c.Inputs.Differ():
		c.put(StepPeers, document.RungFound)
	case c.Runs != RunsOfPeers:
		c.put(StepPeers, document.RungFound)
	case len(c.Groups) < 2:
		c.put(StepPeers, document.RungOpen, needs(MorePeers)...)
	case c.Replayed && !c.Unsteady:
		c.put(StepPeers, document.RungOpen) // the replay departs from no peer there, or from every one
	default:
		c.put(StepPeers, document.RungOpen, needs(c.replay())...)
	}
}

// replay returns what a replay of the orders needs.
func (c *Conclusion) replay() Artifact {
	switch {
	case c.SimFailed != "" && !c.OwnFailed || c.Unsteady:
		return OtherSimulator
	case c.Held.Logs == 0:
		return SimulatorOrders
	}
	return Simulator
}

func (c *Conclusion) answerCause() {
	if len(c.Causes) > 0 {
		c.put(StepCause, document.RungFound)
		return
	}
	list := c.separatesRuns()
	switch {
	case c.Tick == nil || c.Bracket == nil:
		list = append(list, needs(NearerStates)...)
	case c.Tick.Number+1 != pointOf(c.Compared):
		after := Moment{Number: c.Tick.Number + 1}
		if c.Bracket.Bad.Tick == after.Number {
			after = MomentOf(c.Bracket.Bad)
		}
		list = append(list, Need{What: States, At: &after})
	}
	if !c.within.columns() {
		list = append(list, Need{What: ColumnTraces})
	}
	switch replay := c.replay(); {
	case replay != Simulator || !c.Replayed:
		list = append(list, Need{What: replay})
	case c.Witnessed != nil:
	case c.Simulators.Own == "" || c.OwnFailed:
		list = append(list, Need{What: OwnBuild})
	}
	c.put(StepCause, document.RungOpen, list...)
}

// pointOf returns the state point that was compared, 0 if there is none.
func pointOf(k *document.Compared) uint64 {
	if k == nil {
		return 0
	}
	return k.Point
}

// answerClaims compares the engine's first statement with the evidence.
func (c *Conclusion) answerClaims() {
	first, wrong := c.FirstStatement()
	if first == nil || c.Kind == bisect.StaleCache {
		return
	}
	switch {
	case first.Contradicted() || first.Late() || wrong > 0:
		c.put(StepClaims, document.RungTrouble)
	case first.Borne() || first.Fits():
		c.put(StepClaims, document.RungFound)
	default:
		c.put(StepClaims, document.RungOpen)
	}
}
