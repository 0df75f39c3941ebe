package remoting

// AuthUserRequest is the header of AUTH_CREATE_USER (3001), AUTH_UPDATE_USER (3002),
// AUTH_DELETE_USER (3003) and AUTH_GET_USER (3004).
type AuthUserRequest struct {
	Username string
}

// Decode reads the header.
func (h *AuthUserRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *AuthUserRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *AuthUserRequest) fields(f *headerFields) {
	f.optText("username", &h.Username)
}

// AuthListUserRequest is the header of AUTH_LIST_USER (3005).
type AuthListUserRequest struct {
	Filter string
}

// Decode reads the header.
func (h *AuthListUserRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *AuthListUserRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *AuthListUserRequest) fields(f *headerFields) {
	f.optText("filter", &h.Filter)
}

// AuthACLRequest is the header of AUTH_CREATE_ACL (3006), AUTH_UPDATE_ACL (3007), AUTH_DELETE_ACL
// (3008) and AUTH_GET_ACL (3009); only the third has more than a subject.
type AuthACLRequest struct {
	Subject    string
	PolicyType string
	Resource   string
}

// Decode reads the header.
func (h *AuthACLRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *AuthACLRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *AuthACLRequest) fields(f *headerFields) {
	f.optText("subject", &h.Subject)
	f.optText("policyType", &h.PolicyType)
	f.optText("resource", &h.Resource)
}

// AuthListACLRequest is the header of AUTH_LIST_ACL (3010).
type AuthListACLRequest struct {
	SubjectFilter  string
	ResourceFilter string
}

// Decode reads the header.
func (h *AuthListACLRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *AuthListACLRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *AuthListACLRequest) fields(f *headerFields) {
	f.optText("subjectFilter", &h.SubjectFilter)
	f.optText("resourceFilter", &h.ResourceFilter)
}
