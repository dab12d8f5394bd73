-- A person lets probes of a downstream go: the hold stays, so that the first probe that fails brings it back.
ALTER TABLE "circuit_holds" ADD COLUMN "released_at" BIGINT;
