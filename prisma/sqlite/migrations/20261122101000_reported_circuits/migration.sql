-- Breakers that agents keep themselves, as their own tokens tell of them.
CREATE TABLE "reported_circuits" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "caller" TEXT NOT NULL,
    "downstream" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "error_rate" REAL NOT NULL,
    "cooldown_s" INTEGER NOT NULL,
    "until" BIGINT NOT NULL,
    "at" BIGINT NOT NULL,
    "heard_at" BIGINT NOT NULL,
    "run_id" TEXT NOT NULL,
    "jti" TEXT NOT NULL
);

-- CreateIndex
CREATE INDEX "reported_circuits_caller_heard_at_idx" ON "reported_circuits"("caller", "heard_at");

-- CreateIndex
CREATE INDEX "reported_circuits_heard_at_idx" ON "reported_circuits"("heard_at");
