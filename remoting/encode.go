package remoting

import "strconv"

// AppendReplyHead appends the frame of a reply up to and including Body. The length word
// counts the Parts, which the caller writes after it.
func AppendReplyHead(dst []byte, opaque int32, r *Reply) []byte {
	start := len(dst)
	bodyLen := len(r.Body)
	for _, part := range r.Parts {
		bodyLen += len(part)
	}
	dst = endHeader(appendReplyHeader(beginFrame(dst), opaque, r), start, SerializeJSON, bodyLen)
	return append(dst, r.Body...)
}

// What stands before and behind the opaque of every reply.
var (
	replyBeforeOpaque = []byte(`,"flag":` + strconv.Itoa(int(FlagResponse)) + `,"language":"JAVA","opaque":`)
	replyEnd          = []byte(`,"serializeTypeCurrentRPC":"JSON","version":` + strconv.Itoa(int(Version)) + `}`)
)

// appendReplyHeader is appendJSONHeader with all that is the same in every reply joined.
func appendReplyHeader(dst []byte, opaque int32, r *Reply) []byte {
	dst = strconv.AppendInt(append(dst, `{"code":`...), int64(r.Code), 10)
	if r.Ext.present {
		dst = append(append(dst, `,"extFields":{`...), r.Ext.buf...)
		dst = append(dst, '}')
	}
	dst = strconv.AppendInt(append(dst, replyBeforeOpaque...), int64(opaque), 10)
	if r.Remark != "" {
		dst = AppendJSONString(append(dst, `,"remark":`...), r.Remark)
	}
	return append(dst, replyEnd...)
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
