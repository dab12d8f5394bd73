-- AlterTable
ALTER TABLE "runs" ADD COLUMN "parent_index" INTEGER;
ALTER TABLE "runs" ADD COLUMN "parent_node" TEXT;
ALTER TABLE "runs" ADD COLUMN "parent_run" TEXT;
ALTER TABLE "runs" ADD COLUMN "parent_visit" INTEGER;

-- CreateIndex
CREATE INDEX "runs_parent_run_parent_node_parent_visit_parent_index_idx" ON "runs"("parent_run", "parent_node", "parent_visit", "parent_index");
