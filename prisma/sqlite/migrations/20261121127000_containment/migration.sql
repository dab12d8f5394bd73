-- CreateTable
CREATE TABLE "circuits" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "wid" TEXT NOT NULL,
    "caller" TEXT NOT NULL,
    "downstream" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "revision" INTEGER NOT NULL,
    "last_hash" TEXT NOT NULL,
    "mark" INTEGER NOT NULL,
    "updated_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "circuit_tokens" (
    "circuit_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "jti" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "prev_hash" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "at" BIGINT NOT NULL,

    PRIMARY KEY ("circuit_id", "seq"),
    CONSTRAINT "circuit_tokens_circuit_id_fkey" FOREIGN KEY ("circuit_id") REFERENCES "circuits" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);

-- CreateTable
CREATE TABLE "circuit_calls" (
    "circuit_id" TEXT NOT NULL,
    "second" INTEGER NOT NULL,
    "calls" INTEGER NOT NULL,
    "failed" INTEGER NOT NULL,
    "rejected" INTEGER NOT NULL,
    "total_ms" INTEGER NOT NULL,
    "max_ms" INTEGER NOT NULL,

    PRIMARY KEY ("circuit_id", "second")
);

-- CreateTable
CREATE TABLE "circuit_holds" (
    "downstream" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "approval" TEXT NOT NULL,
    "held_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "pool_use" (
    "owner" TEXT NOT NULL,
    "pool" TEXT NOT NULL,
    "workflow" TEXT NOT NULL,
    "running" INTEGER NOT NULL,
    "queued" INTEGER NOT NULL,
    "oldest_at" BIGINT,
    "at" BIGINT NOT NULL,

    PRIMARY KEY ("owner", "pool", "workflow")
);

-- CreateTable
CREATE TABLE "settings" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "updated_by" TEXT NOT NULL
);

-- CreateTable
CREATE TABLE "signals" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "error_jti" TEXT NOT NULL,
    "agent" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" BIGINT,
    "state" TEXT NOT NULL,
    "answer" TEXT NOT NULL DEFAULT '',
    "created_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "run_waits" (
    "run_id" TEXT NOT NULL,
    "circuit" TEXT NOT NULL,

    PRIMARY KEY ("run_id", "circuit")
);

-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_agents" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL,
    "base_url" TEXT NOT NULL,
    "jwks" TEXT NOT NULL,
    "added_at" BIGINT NOT NULL,
    "added_by" TEXT NOT NULL,
    "removed_at" BIGINT,
    "domain" TEXT NOT NULL DEFAULT '',
    "role" TEXT NOT NULL DEFAULT '',
    "protocols" TEXT NOT NULL DEFAULT 'holdpoint atd',
    "jwks_url" TEXT NOT NULL DEFAULT '',
    "keys_at" BIGINT,
    "revoked" TEXT NOT NULL DEFAULT '{}',
    "limits" TEXT NOT NULL DEFAULT '{}',
    "heard_at" BIGINT
);
INSERT INTO "new_agents" ("added_at", "added_by", "base_url", "id", "jwks", "name", "removed_at") SELECT "added_at", "added_by", "base_url", "id", "jwks", "name", "removed_at" FROM "agents";
DROP TABLE "agents";
ALTER TABLE "new_agents" RENAME TO "agents";
CREATE TABLE "new_checkpoints" (
    "jti" TEXT NOT NULL PRIMARY KEY,
    "run_id" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "visit" INTEGER NOT NULL,
    "key_id" TEXT NOT NULL,
    "sealed" BLOB NOT NULL,
    "workflow" TEXT NOT NULL DEFAULT '',
    "created_at" BIGINT NOT NULL DEFAULT 0,
    "expires_at" BIGINT NOT NULL,
    CONSTRAINT "checkpoints_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
);
INSERT INTO "new_checkpoints" ("expires_at", "jti", "key_id", "node", "run_id", "sealed", "visit") SELECT "expires_at", "jti", "key_id", "node", "run_id", "sealed", "visit" FROM "checkpoints";
DROP TABLE "checkpoints";
ALTER TABLE "new_checkpoints" RENAME TO "checkpoints";
CREATE INDEX "checkpoints_expires_at_idx" ON "checkpoints"("expires_at");
CREATE INDEX "checkpoints_workflow_created_at_idx" ON "checkpoints"("workflow", "created_at");
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;

-- CreateIndex
CREATE UNIQUE INDEX "circuits_wid_key" ON "circuits"("wid");

-- CreateIndex
CREATE INDEX "circuits_mark_idx" ON "circuits"("mark");

-- CreateIndex
CREATE INDEX "circuits_downstream_idx" ON "circuits"("downstream");

-- CreateIndex
CREATE INDEX "circuit_calls_second_idx" ON "circuit_calls"("second");

-- CreateIndex
CREATE INDEX "pool_use_pool_idx" ON "pool_use"("pool");

-- CreateIndex
CREATE INDEX "signals_next_at_idx" ON "signals"("next_at");

-- CreateIndex
CREATE INDEX "signals_run_id_idx" ON "signals"("run_id");

-- CreateIndex
CREATE INDEX "run_waits_circuit_idx" ON "run_waits"("circuit");
