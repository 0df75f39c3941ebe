# Every target is described by the comment behind it; `make` alone prints them.
.DEFAULT_GOAL := help
SHELL := /bin/bash

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BIN := $(CURDIR)/bin/wheelmq
RACE_BIN := $(CURDIR)/bin/wheelmq-race
# Its version is pinned apart from what the server itself requires.
STATICCHECK := go tool -modfile=$(CURDIR)/tools/lint.mod staticcheck
FUZZED := ./remoting/fastjson ./remoting ./message ./config ./store ./store/timer ./store/timer/rocketmq ./broker/schedule ./broker/timer ./broker/filter/sql
FUZZTIME := 5m
# In the order in which they start: those that take longest first.
SUITES := ./java ./compat ./proxy ./mqadmin ./cases ./crash ./readme ./metrics ./peer ./cli ./golden/... ./sqlfilter ./wire
# What only this server has: the test broker.
TESTING := ./junit ./faults ./embed ./virtual ./testapi
# Test packages at the same time: they wait more than they compute, so more than there are processors.
AT_ONCE := 3

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: build ## build and run name server and broker in one process
	$(BIN) serve

build: ## bin/wheelmq, one static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN) ./cmd/wheelmq

deps: # what the tests need beside Go: installed on Debian as root
	@tools/install-deps.sh

lint: ## gofmt, go vet, staticcheck
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	cd test && go vet ./...
	$(STATICCHECK) ./...
	cd test && $(STATICCHECK) ./...

test: deps lint build ## everything: unit tests with the race detector, Go and Java clients, mqadmin
	go test -race -timeout 30m ./...
	go test -timeout 30m -count=1 ./broker ./broker/timer # kills that the race detector cannot look at
	$(MAKE) fuzz FUZZTIME=5s
	CGO_ENABLED=1 go build -race -o $(RACE_BIN) ./cmd/wheelmq
	cd test && WHEELMQ_REQUIRE_JAVA=1 WHEELMQ_BIN=$(BIN) go test -timeout 30m -p $(AT_ONCE) -count=1 ./mixed $(TESTING) $(SUITES)
	cd test && WHEELMQ_BIN=$(RACE_BIN) go test -timeout 30m -p 2 -count=1 ./cases ./golden/...

test-short: build ## what needs nothing but Go, under a minute
	go test ./...
	cd test && WHEELMQ_BIN=$(BIN) go test -p 1 -count=1 ./wire ./cases ./cli ./golden/...

test-peer: deps ## the same suites against the real RocketMQ 5.5.0, and both servers on one store
	cd test && WHEELMQ_REQUIRE_JAVA=1 WHEELMQ_TARGET=peer go test -p 1 -count=1 -timeout 40m $(SUITES)
	cd test && WHEELMQ_REQUIRE_JAVA=1 go test -count=1 -timeout 30m ./interchange

crash: build ## 200 random kills, kills amid 300,000 due timers, a million popped messages, 20,000 simulated power cuts of the store and of timers' files, 10,000 crashes of timers
	cd test && WHEELMQ_CRASH_KILLS=200 WHEELMQ_CRASH_BURST=300000 WHEELMQ_POP_MESSAGES=1000000 WHEELMQ_BIN=$(BIN) go test -count=1 -timeout 60m -v ./crash
	WHEELMQ_CRASH_CLONES=20000 go test -count=1 -timeout 120m -v -run TestPowerCut ./store ./store/timer
	WHEELMQ_CRASH_HISTORIES=2500 go test -count=1 -timeout 120m -run Crash ./broker/timer
	go test -count=1 -timeout 60m -v -run TestTransaction_Many ./broker -transactions 100000

bench: deps build ## ours and a warmed-up real RocketMQ 5.5.0 in one run
	go test -run xxx -bench . -benchmem ./remoting ./store ./broker/... ./server
	cd test && WHEELMQ_BENCH=1 WHEELMQ_BIN=$(BIN) go test -count=1 -timeout 60m -v ./bench

soak-timer: build ## 100 million pending timers: memory, disk, restarts; an hour and 40 GB of disk (see docs/benchmarks.md)
	cd test && WHEELMQ_SOAK=1 WHEELMQ_BIN=$(BIN) go test -count=1 -timeout 12h -v -run TestSoakTimer ./bench

fuzz: ## each fuzz target for FUZZTIME (5m), two at a time
	@tools/fuzz.sh $(FUZZTIME) $(FUZZED)

docs: ## regenerate docs/differences.md, docs/compat.md and docs/configuration.md
	go run ./tools/docs

clean: ## remove what was built and the default store directory
	rm -rf bin wheelmq-data

.PHONY: help run build deps lint test test-short test-peer crash bench soak-timer fuzz docs clean
