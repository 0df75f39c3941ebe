package remoting

// AppendReplyHead appends the frame of a reply up to and including Body. The length word
// counts the Parts, which the caller writes after it.
func AppendReplyHead(dst []byte, opaque int32, r *Reply) []byte {
	start := len(dst)
	bodyLen := len(r.Body)
	for _, part := range r.Parts {
		bodyLen += len(part)
	}
	dst = appendJSONHeader(beginFrame(dst), jsonHead{
		code: r.Code, flag: FlagResponse, opaque: opaque, language: "JAVA", version: Version,
		remark: r.Remark, ext: &r.Ext,
	})
	dst = endHeader(dst, start, SerializeJSON, bodyLen)
	return append(dst, r.Body...)
}

// AppendRequest appends the frame of a request of ours with a JSON header: a push to a
// client, a call to a name server. ext may be nil.
func AppendRequest(dst []byte, code, opaque, flag int32, ext *ExtWriter, body []byte) []byte {
	start := len(dst)
	dst = appendJSONHeader(beginFrame(dst), jsonHead{
		code: code, flag: flag, opaque: opaque, language: "JAVA", version: Version, ext: ext,
	})
	dst = endHeader(dst, start, SerializeJSON, len(body))
	return append(dst, body...)
}

// AppendCommand appends a whole frame with a JSON header.
func AppendCommand(dst []byte, cmd *Command) []byte {
	var ext ExtWriter
	for _, f := range cmd.Ext.list {
		ext.Bytes(string(f.Key), f.Value)
	}
	start := len(dst)
	dst = appendJSONHeader(beginFrame(dst), jsonHead{
		code: cmd.Code, flag: cmd.Flag, opaque: cmd.Opaque, language: cmd.Language.String(),
		version: cmd.Version, remark: cmd.Remark, ext: &ext,
	})
	dst = endHeader(dst, start, SerializeJSON, len(cmd.Body))
	return append(dst, cmd.Body...)
}
