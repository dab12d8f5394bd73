-- The states that steps of runs left at their targets, so that who changed one since can be named.
CREATE TABLE "left_states" (
    "holder" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "run_id" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "label" TEXT NOT NULL,
    "at" BIGINT NOT NULL,
    "undid" BOOLEAN NOT NULL,

    PRIMARY KEY ("holder", "state", "run_id"),
    CONSTRAINT "left_states_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE CASCADE ON UPDATE RESTRICT
);

-- CreateIndex
CREATE INDEX "left_states_holder_state_at_idx" ON "left_states"("holder", "state", "at");

-- CreateIndex
CREATE INDEX "left_states_run_id_idx" ON "left_states"("run_id");

-- CreateIndex
CREATE INDEX "left_states_at_idx" ON "left_states"("at");
