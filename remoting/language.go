package remoting

// languages are the names of the JSON encoding at the codes of the binary one.
var languages = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String is the language's name in JSON headers.
func (l Language) String() string {
	if int(l) < len(languages) {
		return languages[l]
	}
	return languages[LanguageOther]
}

// languageOf is tolerant: the real server takes any text, and none means Java.
func languageOf(name []byte) Language {
	if len(name) == 0 {
		return LanguageJava
	}
	for i, known := range languages {
		if string(name) == known {
			return Language(i)
		}
	}
	return LanguageOther
}
