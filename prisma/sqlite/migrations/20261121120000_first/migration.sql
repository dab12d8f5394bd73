-- The ledger and what it speaks of, the projections that lists are made of, workflow versions.

-- CreateTable
CREATE TABLE "ledger" (
    "position" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    "run_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "jti" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "prev_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    CONSTRAINT "ledger_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "heads" (
    "run_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "jws" TEXT NOT NULL,

    PRIMARY KEY ("run_id", "seq"),
    CONSTRAINT "heads_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "stored_values" (
    "hash" TEXT NOT NULL PRIMARY KEY,
    "media_type" TEXT NOT NULL,
    "size" INTEGER NOT NULL,
    "bytes" BLOB NOT NULL
);

-- CreateTable
CREATE TABLE "checkpoints" (
    "jti" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "key_id" TEXT NOT NULL,
    "sealed" BLOB NOT NULL,
    "expires_at" BIGINT NOT NULL,
    CONSTRAINT "checkpoints_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "answers" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "body" TEXT NOT NULL,
    "answered_at" BIGINT NOT NULL,

    PRIMARY KEY ("scope", "key")
);

-- CreateTable
CREATE TABLE "seen_jtis" (
    "jti" TEXT NOT NULL PRIMARY KEY,
    "expires_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "runs" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "wid" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "workflow_name" TEXT NOT NULL,
    "started_by" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "terminal" TEXT,
    "started_at" BIGINT NOT NULL,
    "ended_at" BIGINT,
    "updated_at" BIGINT NOT NULL,
    "node_count" INTEGER NOT NULL,
    "done_count" INTEGER NOT NULL,
    "failed_count" INTEGER NOT NULL,
    "open_approvals" INTEGER NOT NULL,
    "due_at" BIGINT,
    "lease_owner" TEXT,
    "lease_epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_until" BIGINT
);

-- CreateTable
CREATE TABLE "approvals" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "kind" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "sentence" TEXT NOT NULL,
    "consequence" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "asked_at" BIGINT NOT NULL,
    "deadline_at" BIGINT,
    "state" TEXT NOT NULL,
    "verdict" TEXT,
    "decided_by" TEXT,
    "decided_at" BIGINT,
    CONSTRAINT "approvals_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "workflows" (
    "version" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "media_type" TEXT NOT NULL,
    "imported_at" BIGINT NOT NULL,
    "imported_by" TEXT NOT NULL,
    "node_count" INTEGER NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "ledger_run_id_seq_key" ON "ledger"("run_id", "seq");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_run_id_jti_key" ON "ledger"("run_id", "jti");

-- CreateIndex
CREATE INDEX "checkpoints_expires_at_idx" ON "checkpoints"("expires_at");

-- CreateIndex
CREATE INDEX "answers_answered_at_idx" ON "answers"("answered_at");

-- CreateIndex
CREATE INDEX "seen_jtis_expires_at_idx" ON "seen_jtis"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "runs_wid_key" ON "runs"("wid");

-- CreateIndex
CREATE INDEX "runs_due_at_idx" ON "runs"("due_at");

-- CreateIndex
CREATE INDEX "runs_started_at_id_idx" ON "runs"("started_at", "id");

-- CreateIndex
CREATE INDEX "runs_status_started_at_id_idx" ON "runs"("status", "started_at", "id");

-- CreateIndex
CREATE INDEX "runs_workflow_name_started_at_id_idx" ON "runs"("workflow_name", "started_at", "id");

-- CreateIndex
CREATE INDEX "approvals_state_deadline_at_asked_at_id_idx" ON "approvals"("state", "deadline_at", "asked_at", "id");

-- CreateIndex
CREATE INDEX "approvals_state_asked_at_id_idx" ON "approvals"("state", "asked_at", "id");

-- CreateIndex
CREATE INDEX "approvals_run_id_idx" ON "approvals"("run_id");

-- CreateIndex
CREATE INDEX "workflows_name_imported_at_idx" ON "workflows"("name", "imported_at");
