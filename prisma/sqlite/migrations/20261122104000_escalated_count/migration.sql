-- Steps that were handed to a person, apart from those that failed.
ALTER TABLE "runs" ADD COLUMN "escalated_count" INTEGER NOT NULL DEFAULT 0;
