// Package filter decides by a queue unit's tagsCode whether a subscription wants a
// record. Hash collisions pass: clients compare the tag itself.
package filter
