-- AlterTable
ALTER TABLE "runs" ADD COLUMN "kept_for" TEXT;
ALTER TABLE "runs" ADD COLUMN "kept_until" BIGINT;

-- CreateIndex
CREATE INDEX "runs_kept_for_idx" ON "runs"("kept_for");
