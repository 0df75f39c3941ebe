package remoting

// GetRouteInfoRequest is the header of GET_ROUTEINFO_BY_TOPIC (105).
type GetRouteInfoRequest struct {
	Topic                  string
	AcceptStandardJSONOnly bool
}

// Decode reads the header.
func (h *GetRouteInfoRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetRouteInfoRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetRouteInfoRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.boolOr("acceptStandardJsonOnly", &h.AcceptStandardJSONOnly, false)
}

// BrokerIdentity is what the requests from a broker to a name server have in common:
// UNREGISTER_BROKER (104), QUERY_DATA_VERSION (322).
type BrokerIdentity struct {
	BrokerName  string
	BrokerAddr  string
	ClusterName string
	BrokerID    int64
}

// Decode reads the header.
func (h *BrokerIdentity) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *BrokerIdentity) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *BrokerIdentity) fields(f *headerFields) {
	f.text("brokerName", &h.BrokerName)
	f.text("brokerAddr", &h.BrokerAddr)
	f.text("clusterName", &h.ClusterName)
	f.int64("brokerId", &h.BrokerID)
}

// UnregisterBrokerRequest is the header of UNREGISTER_BROKER (104).
type UnregisterBrokerRequest = BrokerIdentity

// QueryDataVersionRequest is the header of QUERY_DATA_VERSION (322).
type QueryDataVersionRequest = BrokerIdentity

// RegisterBrokerRequest is the header of REGISTER_BROKER (103).
type RegisterBrokerRequest struct {
	BrokerIdentity
	HAServerAddr           string
	HeartbeatTimeoutMillis int64 // 0 when absent
	EnableActingMaster     bool
	Compressed             bool
	BodyCRC32              int64 // 0: not checked
}

// Decode reads the header.
func (h *RegisterBrokerRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *RegisterBrokerRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *RegisterBrokerRequest) fields(f *headerFields) {
	h.BrokerIdentity.fields(f)
	f.text("haServerAddr", &h.HAServerAddr)
	f.optInt64("heartbeatTimeoutMillis", &h.HeartbeatTimeoutMillis, 0)
	f.boolOr("enableActingMaster", &h.EnableActingMaster, false)
	f.boolOr("compressed", &h.Compressed, false)
	f.int64Or("bodyCrc32", &h.BodyCRC32, 0)
}

// KVConfigRequest is the header of PUT_KV_CONFIG (100), GET_KV_CONFIG (101) and
// DELETE_KV_CONFIG (102); only the first has a value.
type KVConfigRequest struct{ Namespace, Key, Value string }

// Decode reads the header.
func (h *KVConfigRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *KVConfigRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *KVConfigRequest) fields(f *headerFields) {
	f.text("namespace", &h.Namespace)
	f.text("key", &h.Key)
	f.optText("value", &h.Value)
}

// GetKVListByNamespaceRequest is the header of GET_KVLIST_BY_NAMESPACE (219).
type GetKVListByNamespaceRequest struct{ Namespace string }

// Decode reads the header.
func (h *GetKVListByNamespaceRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetKVListByNamespaceRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetKVListByNamespaceRequest) fields(f *headerFields) {
	f.text("namespace", &h.Namespace)
}

// WritePermRequest is the header of WIPE_WRITE_PERM_OF_BROKER (205) and
// ADD_WRITE_PERM_OF_BROKER (327).
type WritePermRequest struct{ BrokerName string }

// Decode reads the header.
func (h *WritePermRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *WritePermRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *WritePermRequest) fields(f *headerFields) {
	f.text("brokerName", &h.BrokerName)
}

// DeleteTopicInNamesrvRequest is the header of DELETE_TOPIC_IN_NAMESRV (216).
type DeleteTopicInNamesrvRequest struct{ Topic, ClusterName string }

// Decode reads the header.
func (h *DeleteTopicInNamesrvRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *DeleteTopicInNamesrvRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *DeleteTopicInNamesrvRequest) fields(f *headerFields) {
	f.text("topic", &h.Topic)
	f.optText("clusterName", &h.ClusterName)
}

// GetTopicsByClusterRequest is the header of GET_TOPICS_BY_CLUSTER (224).
type GetTopicsByClusterRequest struct{ Cluster string }

// Decode reads the header.
func (h *GetTopicsByClusterRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *GetTopicsByClusterRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *GetTopicsByClusterRequest) fields(f *headerFields) {
	f.text("cluster", &h.Cluster)
}

// RegisterTopicRequest is the header of REGISTER_TOPIC_IN_NAMESRV (217); the body is the topic's route.
type RegisterTopicRequest = TopicRequest

// BrokerMemberGroupRequest is the header of GET_BROKER_MEMBER_GROUP (901).
type BrokerMemberGroupRequest struct{ ClusterName, BrokerName string }

// Decode reads the header.
func (h *BrokerMemberGroupRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *BrokerMemberGroupRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *BrokerMemberGroupRequest) fields(f *headerFields) {
	f.text("clusterName", &h.ClusterName)
	f.text("brokerName", &h.BrokerName)
}

// BrokerHeartbeatRequest is the header of BROKER_HEARTBEAT (904), as far as a name server without a
// controller looks at it.
type BrokerHeartbeatRequest struct{ BrokerName, BrokerAddr string }

// Decode reads the header.
func (h *BrokerHeartbeatRequest) Decode(fields *Fields) error { return decodeHeader(fields, h) }

// Encode writes the header.
func (h *BrokerHeartbeatRequest) Encode(w *ExtWriter) { encodeHeader(w, h) }

func (h *BrokerHeartbeatRequest) fields(f *headerFields) {
	f.text("brokerName", &h.BrokerName)
	f.text("brokerAddr", &h.BrokerAddr)
}
