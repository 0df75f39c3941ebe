// Package sqlfilter holds broker/filter/sql to the filter of the official broker: generated
// expressions over generated properties, the same verdicts and the same refusals.
package sqlfilter
