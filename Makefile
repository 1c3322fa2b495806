# What people type; each target is one line of npm, kubectl or docker. "make" alone lists them.
# Elsewhere than in the current context: make deploy KUBECTL="kubectl --context paris". The agent instead of the
# broker: COMPONENT=agent. Flags for a program: make run ARGS="--http-cert-path=certs/broker --store=sqlite:data".
KUBECTL ?= kubectl
ENGINE ?= docker
COMPONENT ?= broker
VERSION ?= 0.1.0
ARGS ?=
# For images: other bases than those of the Dockerfiles, and flags for the engine's build, such as --network=host.
BUILD_IMAGE ?=
RUNTIME_IMAGE ?=
BUILD_FLAGS ?=

.DEFAULT_GOAL := help
.PHONY: help build build-prod test check install uninstall deploy undeploy run images sbom

help: ## Lists the targets
	@sed -nE 's/^([a-z%-]+):.*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

build: ## Bundles broker, agent, brokerctl and dashboard into dist/
	npm run bundle

build-prod: ## The same, minified: a third smaller, with unreadable traces
	npm run bundle -- --minify

test: ## Runs the tests that need nothing but npm
	npm test

check: ## Formatting, lint, types, layers, dead code, tests
	npm run check

install: ## Installs the kinds (CRDs) into the cluster
	$(KUBECTL) apply --server-side -f deploy/crds

uninstall: ## Removes the kinds, and with them every object of these kinds
	$(KUBECTL) delete --ignore-not-found --wait=false -f deploy/crds

deploy: ## Deploys COMPONENT (broker or agent) into the cluster
	$(KUBECTL) apply -k deploy/kustomize/$(COMPONENT)

undeploy: ## Takes COMPONENT out of the cluster; ledger, certificate, rights and kinds stay
	$(KUBECTL) delete --ignore-not-found -k deploy/kustomize/$(COMPONENT) -l app.kubernetes.io/component=$(COMPONENT)

run: ## Runs COMPONENT on this machine, with ARGS
	npm run $(COMPONENT) -- $(ARGS)

images: image-broker image-agent image-brokerctl ## Builds the container images

image-%: ## Builds one of them
	deploy/images/check-engine.sh $(ENGINE) && DOCKER_BUILDKIT=1 $(ENGINE) build -f deploy/images/$*.Dockerfile --build-arg=VERSION=$(VERSION) $(BUILD_IMAGE:%=--build-arg=BUILD_IMAGE=%) $(RUNTIME_IMAGE:%=--build-arg=RUNTIME_IMAGE=%) $(BUILD_FLAGS) -t resource-broker/$*:$(VERSION) .

sbom: ## Lists what each program is made of (CycloneDX) in dist/
	node scripts/bootstrap.mjs && npm exec -- node scripts/sbom/main.ts
