package remoting

// GetRouteInfoRequest is the header of GET_ROUTEINFO_BY_TOPIC (105).
type GetRouteInfoRequest struct {
	Topic                  string
	AcceptStandardJSONOnly bool
}

// Decode reads the header.
func (h *GetRouteInfoRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Topic, h.AcceptStandardJSONOnly = r.text("topic"), r.optBool("acceptStandardJsonOnly", false)
	return r.err()
}

// Encode writes the header.
func (h *GetRouteInfoRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.Bool("acceptStandardJsonOnly", h.AcceptStandardJSONOnly)
}

// BrokerIdentity is what the requests from a broker to a name server have in common:
// UNREGISTER_BROKER (104), QUERY_DATA_VERSION (322).
type BrokerIdentity struct {
	BrokerName  string
	BrokerAddr  string
	ClusterName string
	BrokerID    int64
}

func (h *BrokerIdentity) decode(r *headerReader) {
	*h = BrokerIdentity{
		BrokerName: r.text("brokerName"), BrokerAddr: r.text("brokerAddr"), ClusterName: r.text("clusterName"),
		BrokerID: r.int64("brokerId"),
	}
}

// Decode reads the header.
func (h *BrokerIdentity) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	return r.err()
}

// Encode writes the header.
func (h *BrokerIdentity) Encode(w *ExtWriter) {
	w.String("brokerName", h.BrokerName)
	w.String("brokerAddr", h.BrokerAddr)
	w.String("clusterName", h.ClusterName)
	w.Int("brokerId", h.BrokerID)
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
func (h *RegisterBrokerRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.decode(&r)
	h.HAServerAddr = r.text("haServerAddr")
	h.HeartbeatTimeoutMillis = r.optInt64("heartbeatTimeoutMillis", 0)
	h.EnableActingMaster = r.optBool("enableActingMaster", false)
	h.Compressed = r.optBool("compressed", false)
	h.BodyCRC32 = r.optInt64("bodyCrc32", 0)
	return r.err()
}

// Encode writes the header.
func (h *RegisterBrokerRequest) Encode(w *ExtWriter) {
	h.BrokerIdentity.Encode(w)
	w.String("haServerAddr", h.HAServerAddr)
	w.optInt("heartbeatTimeoutMillis", h.HeartbeatTimeoutMillis, 0)
	w.Bool("enableActingMaster", h.EnableActingMaster)
	w.Bool("compressed", h.Compressed)
	w.Int("bodyCrc32", h.BodyCRC32)
}

// KVConfigRequest is the header of PUT_KV_CONFIG (100), GET_KV_CONFIG (101) and
// DELETE_KV_CONFIG (102); only the first has a value.
type KVConfigRequest struct{ Namespace, Key, Value string }

// Decode reads the header.
func (h *KVConfigRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Namespace, h.Key, h.Value = r.text("namespace"), r.text("key"), r.optText("value")
	return r.err()
}

// Encode writes the header.
func (h *KVConfigRequest) Encode(w *ExtWriter) {
	w.String("namespace", h.Namespace)
	w.String("key", h.Key)
	w.optString("value", h.Value)
}

// GetKVListByNamespaceRequest is the header of GET_KVLIST_BY_NAMESPACE (219).
type GetKVListByNamespaceRequest struct{ Namespace string }

// Decode reads the header.
func (h *GetKVListByNamespaceRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Namespace = r.text("namespace")
	return r.err()
}

// Encode writes the header.
func (h *GetKVListByNamespaceRequest) Encode(w *ExtWriter) {
	w.String("namespace", h.Namespace)
}

// WritePermRequest is the header of WIPE_WRITE_PERM_OF_BROKER (205) and
// ADD_WRITE_PERM_OF_BROKER (327).
type WritePermRequest struct{ BrokerName string }

// Decode reads the header.
func (h *WritePermRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.BrokerName = r.text("brokerName")
	return r.err()
}

// Encode writes the header.
func (h *WritePermRequest) Encode(w *ExtWriter) {
	w.String("brokerName", h.BrokerName)
}

// DeleteTopicInNamesrvRequest is the header of DELETE_TOPIC_IN_NAMESRV (216).
type DeleteTopicInNamesrvRequest struct{ Topic, ClusterName string }

// Decode reads the header.
func (h *DeleteTopicInNamesrvRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Topic, h.ClusterName = r.text("topic"), r.optText("clusterName")
	return r.err()
}

// Encode writes the header.
func (h *DeleteTopicInNamesrvRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
	w.optString("clusterName", h.ClusterName)
}

// GetTopicsByClusterRequest is the header of GET_TOPICS_BY_CLUSTER (224).
type GetTopicsByClusterRequest struct{ Cluster string }

// Decode reads the header.
func (h *GetTopicsByClusterRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Cluster = r.text("cluster")
	return r.err()
}

// Encode writes the header.
func (h *GetTopicsByClusterRequest) Encode(w *ExtWriter) {
	w.String("cluster", h.Cluster)
}

// RegisterTopicRequest is the header of REGISTER_TOPIC_IN_NAMESRV (217); the body is the topic's route.
type RegisterTopicRequest struct{ Topic string }

// Decode reads the header.
func (h *RegisterTopicRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.Topic = r.text("topic")
	return r.err()
}

// Encode writes the header.
func (h *RegisterTopicRequest) Encode(w *ExtWriter) {
	w.String("topic", h.Topic)
}

// BrokerMemberGroupRequest is the header of GET_BROKER_MEMBER_GROUP (901).
type BrokerMemberGroupRequest struct{ ClusterName, BrokerName string }

// Decode reads the header.
func (h *BrokerMemberGroupRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.ClusterName, h.BrokerName = r.text("clusterName"), r.text("brokerName")
	return r.err()
}

// Encode writes the header.
func (h *BrokerMemberGroupRequest) Encode(w *ExtWriter) {
	w.String("clusterName", h.ClusterName)
	w.String("brokerName", h.BrokerName)
}

// BrokerHeartbeatRequest is the header of BROKER_HEARTBEAT (904), as far as a name server without a
// controller looks at it.
type BrokerHeartbeatRequest struct{ BrokerName, BrokerAddr string }

// Decode reads the header.
func (h *BrokerHeartbeatRequest) Decode(fields *Fields) error {
	r := headerReader{fields: fields}
	h.BrokerName, h.BrokerAddr = r.text("brokerName"), r.text("brokerAddr")
	return r.err()
}

// Encode writes the header.
func (h *BrokerHeartbeatRequest) Encode(w *ExtWriter) {
	w.String("brokerName", h.BrokerName)
	w.String("brokerAddr", h.BrokerAddr)
}
