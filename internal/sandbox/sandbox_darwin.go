package sandbox

func host() means { return means{limit: limit} }
