package remoting

// SerializeType is the first byte of a frame's header-length word.
type SerializeType uint8

// The two header encodings of RocketMQ.
const (
	SerializeJSON     SerializeType = 0
	SerializeRocketMQ SerializeType = 1
)

// Flag bits of a command.
const (
	FlagResponse int32 = 1 << 0
	FlagOneway   int32 = 1 << 1
)

// Version is the protocol version this server announces (V5_5_0).
const Version int32 = 513

// MaxFrameLength is the largest accepted frame including its length word, bytes.
const MaxFrameLength = 16_777_216

// Language is the code of a client's language, as in the ROCKETMQ encoding.
type Language uint8

// Languages that this server distinguishes.
const (
	LanguageJava  Language = 0
	LanguageCPP   Language = 1
	LanguageOther Language = 7
	LanguageGo    Language = 9
)

// Command is one decoded frame. Its slices alias the frame or the command's own
// scratch and are valid until the command is decoded into again.
type Command struct {
	Code      int32
	Language  Language
	Version   int32
	Opaque    int32
	Flag      int32
	Remark    string
	Serialize SerializeType // encoding the command arrived in
	Ext       Fields
	Body      []byte // nil when the frame has none
}

// IsResponse tells whether the command answers a request of ours.
func (c *Command) IsResponse() bool { return c.Flag&FlagResponse != 0 }

// IsOneway tells whether the sender wants no answer, not even an error.
func (c *Command) IsOneway() bool { return c.Flag&FlagOneway != 0 }

// reset empties the command and keeps its memory.
func (c *Command) reset() {
	c.Code, c.Language, c.Version, c.Opaque, c.Flag = 0, 0, 0, 0, 0
	c.Remark, c.Body = "", nil
	c.Ext.Reset()
}
