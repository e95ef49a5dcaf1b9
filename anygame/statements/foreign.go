package statements

import (
	"strings"
	"sync"
)

// foreign are words of other languages, after the English word that each is read as.
const foreign = `
desync: synchronisationsfehler asynchron désynchronisation désync desincronización desincronizado desincronizada dessincronização dessincronizado desincronizzazione desynchronizacja rozsynchronizowanie рассинхронизация рассинхрон рассинхронизации десинхронизация десинк 不同步 同步错误 同步失败 失去同步 同期エラー 同期ずれ 동기화오류
desynced: désynchronisé désynchronisée désynchronisés рассинхронизирован рассинхронизировался
sync: sincronización sincronização sincronizzazione синхронизации
mismatch: 校验失败 不匹配 不一致 несовпадение
checksum: prüfsumme сумма 校验和 校验 チェックサム
tick: такт такте тик тике
frame: кадр кадре 帧 フレーム
turn: runde zug tour turno turma tura turze ход ходу 回合 ターン
player: spieler joueur jugador jogador giocatore gracz игрок 玩家 プレイヤー
expected: erwartet attendu attendue esperado esperada atteso oczekiwano ожидалось 期望 預期
received: erhalten reçu reçue recibido recibida recebido ricevuto otrzymano получено 收到
local: lokal locale локально 本地 ローカル
remote: entfernt distant distante remota remoto удалённо リモート
server: serveur servidor сервер 服务器 サーバー
client: клиент 客户端 クライアント
sum: somme suma soma
error: erreur fehler erro errore błąd ошибка
`

var translations = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(foreign) {
		word, list, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, w := range strings.Fields(list) {
			all[w] = word
		}
	}
	return all
})

// english returns the English word that a word of another language is read as, or the word itself.
func english(w string) string {
	if e, ok := translations()[w]; ok {
		return e
	}
	return w
}
