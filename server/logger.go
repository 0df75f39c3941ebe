package server

import "github.com/sirupsen/logrus"

// engineLog leads gnet's own messages, which would go to standard output, to the logger.
// Its chatter about single connections is debug; it never ends the process.
type engineLog struct{ log logrus.FieldLogger }

func (l engineLog) Debugf(format string, args ...any) { l.log.Debugf(format, args...) }
func (l engineLog) Infof(format string, args ...any)  { l.log.Debugf(format, args...) }
func (l engineLog) Warnf(format string, args ...any)  { l.log.Debugf(format, args...) }
func (l engineLog) Errorf(format string, args ...any) { l.log.Warnf(format, args...) }
func (l engineLog) Fatalf(format string, args ...any) { l.log.Errorf(format, args...) }
