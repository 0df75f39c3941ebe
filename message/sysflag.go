package message

// Bits of a record's SYSFLAG field.
const (
	SysFlagCompressed      int32 = 0x1
	SysFlagMultiTags       int32 = 0x2
	SysFlagTransactionMask int32 = 0xC // two bits: 0 none, prepared, commit, rollback
	SysFlagPrepared        int32 = 0x4
	SysFlagCommit          int32 = 0x8
	SysFlagRollback        int32 = 0xC
	SysFlagBornHostV6      int32 = 0x10
	SysFlagStoreHostV6     int32 = 0x20
	SysFlagNeedUnwrap      int32 = 0x40
	SysFlagInnerBatch      int32 = 0x80
	SysFlagCompressionMask int32 = 0x700 // 0x100 LZ4, 0x200 ZSTD, 0x300 ZLIB; 0 from old clients means ZLIB
)
