-- AlterTable
ALTER TABLE "runs" ADD COLUMN "fork_of" TEXT;

-- CreateIndex
CREATE INDEX "runs_fork_of_idx" ON "runs"("fork_of");
