// Package filter decides whether a subscription wants a record: by a queue unit's tagsCode for tags,
// whose hash collisions pass since clients compare the tag itself, and by the record's properties
// for SQL92.
package filter
