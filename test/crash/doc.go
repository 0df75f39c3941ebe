// Package crash kills the server (SIGKILL) at random moments of a load, and sometimes of a start,
// and counts what is left after the last restart: every acknowledged message, at its offset,
// once, and found by its key; every timer that nobody cancelled, once and not before its instant, and none
// that was cancelled in time; every committed transaction once, none that was rolled back, and none left
// open while its producer answers; every offset that a consumer committed a second before, and none past the data.
//
// WHEELMQ_CRASH_KILLS is how many kills there are in all (20), WHEELMQ_CRASH_BURST how many timers are due
// at one instant (5,000), -seed repeats a run's choices.
package crash
