-- AlterTable
ALTER TABLE "runs" ADD COLUMN "stopped" TEXT;
