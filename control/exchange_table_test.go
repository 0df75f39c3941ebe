package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/control"
)

func TestExchangeTable_IsAligned(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)
	got := control.ExchangeTable([]control.Exchange{
		{At: at, Server: "namesrv", Client: "127.0.0.1:40000", Code: 105, Name: "GET_ROUTEINFO_BY_TOPIC", Topic: "orders", Result: "SUCCESS", Duration: 100 * time.Microsecond},
		{
			At: at, Server: "broker", Client: "127.0.0.1:40001 app@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "orders", Group: "shop", QueueID: "3", Offset: "17",
			Result: "SYSTEM_BUSY", Remark: "as the rule\nwants it " + strings.Repeat("ö", 60), Duration: 2 * time.Second, Fault: "f1",
		},
	})
	want := `TIME          SERVER   CLIENT                 REQUEST                       TOPIC   GROUP  QUEUE  OFFSET  RESULT                                                            MS      FAULT
05:06:07.089  namesrv  127.0.0.1:40000        GET_ROUTEINFO_BY_TOPIC (105)  orders  -      -      -       SUCCESS                                                           0.1     -
05:06:07.089  broker   127.0.0.1:40001 app@1  SEND_MESSAGE_V2 (310)         orders  shop   3      17      SYSTEM_BUSY: as the rule wants it ööööööööööööööööööööööööööööö…  2000.0  f1
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := control.ExchangeTable(nil); got != "no exchanges\n" {
		t.Errorf("of none: %q", got)
	}
}
