cuda_tile.module @triton {
  entry @positions(%arg0: tile<ptr<i32>>, %arg1: tile<ptr<i32>>) {
    %cst_0_i32 = constant <i32: 0> : tile<1x1x1x1x2x2xi32>
    %cst_0_i32_0 = constant <i32: 0> : tile<1x1x1x2x1x2xi32>
    %cst_0_i32_1 = constant <i32: 0> : tile<1x1x1x2x2x1xi32>
    %cst_0_i32_2 = constant <i32: 0> : tile<1x1x2x1x1x2xi32>
    %cst_0_i32_3 = constant <i32: 0> : tile<1x1x2x1x2x1xi32>
    %cst_0_i32_4 = constant <i32: 0> : tile<1x1x2x2x1x1xi32>
    %cst_0_i32_5 = constant <i32: 0> : tile<1x2x1x1x1x2xi32>
    %cst_0_i32_6 = constant <i32: 0> : tile<1x2x1x1x2x1xi32>
    %cst_0_i32_7 = constant <i32: 0> : tile<1x2x1x2x1x1xi32>
    %cst_0_i32_8 = constant <i32: 0> : tile<1x2x2x1x1x1xi32>
    %cst_0_i32_9 = constant <i32: 0> : tile<2x1x1x1x1x2xi32>
    %cst_0_i32_10 = constant <i32: 0> : tile<2x1x1x1x2x1xi32>
    %cst_0_i32_11 = constant <i32: 0> : tile<2x1x1x2x1x1xi32>
    %cst_0_i32_12 = constant <i32: 0> : tile<2x1x2x1x1x1xi32>
    %cst_0_i32_13 = constant <i32: 0> : tile<2x2x1x1x1x1xi32>
    %cst_0_i32_14 = constant <i32: 0> : tile<1x1x1x1x1x2xi32>
    %cst_0_i32_15 = constant <i32: 0> : tile<1x1x1x1x2x1xi32>
    %cst_0_i32_16 = constant <i32: 0> : tile<1x1x1x2x1x1xi32>
    %cst_0_i32_17 = constant <i32: 0> : tile<1x1x2x1x1x1xi32>
    %cst_0_i32_18 = constant <i32: 0> : tile<1x2x1x1x1x1xi32>
    %cst_0_i32_19 = constant <i32: 0> : tile<2x1x1x1x1x1xi32>
    %cst_31_i32 = constant <i32: 31> : tile<64xi32>
    %cst_60_i32 = constant <i32: 60> : tile<64xi32>
    %cst_128_i32 = constant <i32: 128> : tile<i32>
    %cst_63_i32 = constant <i32: 63> : tile<64xi32>
    %cst_64_i32 = constant <i32: 64> : tile<i32>
    %0 = iota : tile<64xi32>
    %reshape = reshape %arg0 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast = broadcast %reshape : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %1 = offset %bcast, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result, %result_token = load_ptr_tko weak %1 : tile<64xptr<i32>> -> tile<64xi32>, token
    %reshape_20 = reshape %arg1 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_21 = broadcast %reshape_20 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %2 = offset %bcast_21, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %reshape_22 = reshape %result : tile<64xi32> -> tile<2x2x2x2x2x2xi32>
    %3 = iota : tile<2xi32>
    %reshape_23 = reshape %3 : tile<2xi32> -> tile<1x1x1x1x2x1xi32>
    %reduce = reduce %reshape_22 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_24 = reshape %reduce : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_25 = broadcast %reshape_24 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %4 = xori %reshape_22, %bcast_25 : tile<2x2x2x2x2x2xi32>
    %reshape_26 = reshape %3 : tile<2xi32> -> tile<1x1x1x1x1x2xi32>
    %5 = cmpi greater_than %reshape_22, %4, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_27 = broadcast %reshape_23 : tile<1x1x1x1x2x1xi32> -> tile<1x1x1x1x2x2xi32>
    %bcast_28 = broadcast %reshape_26 : tile<1x1x1x1x1x2xi32> -> tile<1x1x1x1x2x2xi32>
    %6 = xori %bcast_27, %bcast_28 : tile<1x1x1x1x2x2xi32>
    %7 = cmpi not_equal %6, %cst_0_i32, signed : tile<1x1x1x1x2x2xi32> -> tile<1x1x1x1x2x2xi1>
    %bcast_29 = broadcast %7 : tile<1x1x1x1x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %8 = cmpi not_equal %5, %bcast_29, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %9 = select %8, %4, %reshape_22 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reshape_30 = reshape %3 : tile<2xi32> -> tile<1x1x1x2x1x1xi32>
    %reduce_31 = reduce %9 dim=4 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_32 = reshape %reduce_31 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x1x2xi32>
    %bcast_33 = broadcast %reshape_32 : tile<2x2x2x2x1x2xi32> -> tile<2x2x2x2x2x2xi32>
    %10 = xori %9, %bcast_33 : tile<2x2x2x2x2x2xi32>
    %11 = cmpi greater_than %9, %10, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_34 = broadcast %reshape_30 : tile<1x1x1x2x1x1xi32> -> tile<1x1x1x2x2x1xi32>
    %bcast_35 = broadcast %reshape_23 : tile<1x1x1x1x2x1xi32> -> tile<1x1x1x2x2x1xi32>
    %12 = xori %bcast_34, %bcast_35 : tile<1x1x1x2x2x1xi32>
    %13 = cmpi not_equal %12, %cst_0_i32_1, signed : tile<1x1x1x2x2x1xi32> -> tile<1x1x1x2x2x1xi1>
    %bcast_36 = broadcast %13 : tile<1x1x1x2x2x1xi1> -> tile<2x2x2x2x2x2xi1>
    %14 = cmpi not_equal %11, %bcast_36, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %15 = select %14, %10, %9 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_37 = reduce %15 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_38 = reshape %reduce_37 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_39 = broadcast %reshape_38 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %16 = xori %15, %bcast_39 : tile<2x2x2x2x2x2xi32>
    %17 = cmpi greater_than %15, %16, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_40 = broadcast %reshape_30 : tile<1x1x1x2x1x1xi32> -> tile<1x1x1x2x1x2xi32>
    %bcast_41 = broadcast %reshape_26 : tile<1x1x1x1x1x2xi32> -> tile<1x1x1x2x1x2xi32>
    %18 = xori %bcast_40, %bcast_41 : tile<1x1x1x2x1x2xi32>
    %19 = cmpi not_equal %18, %cst_0_i32_0, signed : tile<1x1x1x2x1x2xi32> -> tile<1x1x1x2x1x2xi1>
    %bcast_42 = broadcast %19 : tile<1x1x1x2x1x2xi1> -> tile<2x2x2x2x2x2xi1>
    %20 = cmpi not_equal %17, %bcast_42, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %21 = select %20, %16, %15 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reshape_43 = reshape %3 : tile<2xi32> -> tile<1x1x2x1x1x1xi32>
    %reduce_44 = reduce %21 dim=3 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_45 = reshape %reduce_44 : tile<2x2x2x2x2xi32> -> tile<2x2x2x1x2x2xi32>
    %bcast_46 = broadcast %reshape_45 : tile<2x2x2x1x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %22 = xori %21, %bcast_46 : tile<2x2x2x2x2x2xi32>
    %23 = cmpi greater_than %21, %22, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_47 = broadcast %reshape_43 : tile<1x1x2x1x1x1xi32> -> tile<1x1x2x2x1x1xi32>
    %bcast_48 = broadcast %reshape_30 : tile<1x1x1x2x1x1xi32> -> tile<1x1x2x2x1x1xi32>
    %24 = xori %bcast_47, %bcast_48 : tile<1x1x2x2x1x1xi32>
    %25 = cmpi not_equal %24, %cst_0_i32_4, signed : tile<1x1x2x2x1x1xi32> -> tile<1x1x2x2x1x1xi1>
    %bcast_49 = broadcast %25 : tile<1x1x2x2x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %26 = cmpi not_equal %23, %bcast_49, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %27 = select %26, %22, %21 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_50 = reduce %27 dim=4 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_51 = reshape %reduce_50 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x1x2xi32>
    %bcast_52 = broadcast %reshape_51 : tile<2x2x2x2x1x2xi32> -> tile<2x2x2x2x2x2xi32>
    %28 = xori %27, %bcast_52 : tile<2x2x2x2x2x2xi32>
    %29 = cmpi greater_than %27, %28, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_53 = broadcast %reshape_43 : tile<1x1x2x1x1x1xi32> -> tile<1x1x2x1x2x1xi32>
    %bcast_54 = broadcast %reshape_23 : tile<1x1x1x1x2x1xi32> -> tile<1x1x2x1x2x1xi32>
    %30 = xori %bcast_53, %bcast_54 : tile<1x1x2x1x2x1xi32>
    %31 = cmpi not_equal %30, %cst_0_i32_3, signed : tile<1x1x2x1x2x1xi32> -> tile<1x1x2x1x2x1xi1>
    %bcast_55 = broadcast %31 : tile<1x1x2x1x2x1xi1> -> tile<2x2x2x2x2x2xi1>
    %32 = cmpi not_equal %29, %bcast_55, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %33 = select %32, %28, %27 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_56 = reduce %33 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_57 = reshape %reduce_56 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_58 = broadcast %reshape_57 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %34 = xori %33, %bcast_58 : tile<2x2x2x2x2x2xi32>
    %35 = cmpi greater_than %33, %34, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_59 = broadcast %reshape_43 : tile<1x1x2x1x1x1xi32> -> tile<1x1x2x1x1x2xi32>
    %bcast_60 = broadcast %reshape_26 : tile<1x1x1x1x1x2xi32> -> tile<1x1x2x1x1x2xi32>
    %36 = xori %bcast_59, %bcast_60 : tile<1x1x2x1x1x2xi32>
    %37 = cmpi not_equal %36, %cst_0_i32_2, signed : tile<1x1x2x1x1x2xi32> -> tile<1x1x2x1x1x2xi1>
    %bcast_61 = broadcast %37 : tile<1x1x2x1x1x2xi1> -> tile<2x2x2x2x2x2xi1>
    %38 = cmpi not_equal %35, %bcast_61, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %39 = select %38, %34, %33 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reshape_62 = reshape %3 : tile<2xi32> -> tile<1x2x1x1x1x1xi32>
    %reduce_63 = reduce %39 dim=2 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_64 = reshape %reduce_63 : tile<2x2x2x2x2xi32> -> tile<2x2x1x2x2x2xi32>
    %bcast_65 = broadcast %reshape_64 : tile<2x2x1x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %40 = xori %39, %bcast_65 : tile<2x2x2x2x2x2xi32>
    %41 = cmpi greater_than %39, %40, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_66 = broadcast %reshape_62 : tile<1x2x1x1x1x1xi32> -> tile<1x2x2x1x1x1xi32>
    %bcast_67 = broadcast %reshape_43 : tile<1x1x2x1x1x1xi32> -> tile<1x2x2x1x1x1xi32>
    %42 = xori %bcast_66, %bcast_67 : tile<1x2x2x1x1x1xi32>
    %43 = cmpi not_equal %42, %cst_0_i32_8, signed : tile<1x2x2x1x1x1xi32> -> tile<1x2x2x1x1x1xi1>
    %bcast_68 = broadcast %43 : tile<1x2x2x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %44 = cmpi not_equal %41, %bcast_68, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %45 = select %44, %40, %39 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_69 = reduce %45 dim=3 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_70 = reshape %reduce_69 : tile<2x2x2x2x2xi32> -> tile<2x2x2x1x2x2xi32>
    %bcast_71 = broadcast %reshape_70 : tile<2x2x2x1x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %46 = xori %45, %bcast_71 : tile<2x2x2x2x2x2xi32>
    %47 = cmpi greater_than %45, %46, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_72 = broadcast %reshape_62 : tile<1x2x1x1x1x1xi32> -> tile<1x2x1x2x1x1xi32>
    %bcast_73 = broadcast %reshape_30 : tile<1x1x1x2x1x1xi32> -> tile<1x2x1x2x1x1xi32>
    %48 = xori %bcast_72, %bcast_73 : tile<1x2x1x2x1x1xi32>
    %49 = cmpi not_equal %48, %cst_0_i32_7, signed : tile<1x2x1x2x1x1xi32> -> tile<1x2x1x2x1x1xi1>
    %bcast_74 = broadcast %49 : tile<1x2x1x2x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %50 = cmpi not_equal %47, %bcast_74, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %51 = select %50, %46, %45 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_75 = reduce %51 dim=4 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_76 = reshape %reduce_75 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x1x2xi32>
    %bcast_77 = broadcast %reshape_76 : tile<2x2x2x2x1x2xi32> -> tile<2x2x2x2x2x2xi32>
    %52 = xori %51, %bcast_77 : tile<2x2x2x2x2x2xi32>
    %53 = cmpi greater_than %51, %52, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_78 = broadcast %reshape_62 : tile<1x2x1x1x1x1xi32> -> tile<1x2x1x1x2x1xi32>
    %bcast_79 = broadcast %reshape_23 : tile<1x1x1x1x2x1xi32> -> tile<1x2x1x1x2x1xi32>
    %54 = xori %bcast_78, %bcast_79 : tile<1x2x1x1x2x1xi32>
    %55 = cmpi not_equal %54, %cst_0_i32_6, signed : tile<1x2x1x1x2x1xi32> -> tile<1x2x1x1x2x1xi1>
    %bcast_80 = broadcast %55 : tile<1x2x1x1x2x1xi1> -> tile<2x2x2x2x2x2xi1>
    %56 = cmpi not_equal %53, %bcast_80, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %57 = select %56, %52, %51 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_81 = reduce %57 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_82 = reshape %reduce_81 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_83 = broadcast %reshape_82 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %58 = xori %57, %bcast_83 : tile<2x2x2x2x2x2xi32>
    %59 = cmpi greater_than %57, %58, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_84 = broadcast %reshape_62 : tile<1x2x1x1x1x1xi32> -> tile<1x2x1x1x1x2xi32>
    %bcast_85 = broadcast %reshape_26 : tile<1x1x1x1x1x2xi32> -> tile<1x2x1x1x1x2xi32>
    %60 = xori %bcast_84, %bcast_85 : tile<1x2x1x1x1x2xi32>
    %61 = cmpi not_equal %60, %cst_0_i32_5, signed : tile<1x2x1x1x1x2xi32> -> tile<1x2x1x1x1x2xi1>
    %bcast_86 = broadcast %61 : tile<1x2x1x1x1x2xi1> -> tile<2x2x2x2x2x2xi1>
    %62 = cmpi not_equal %59, %bcast_86, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %63 = select %62, %58, %57 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reshape_87 = reshape %3 : tile<2xi32> -> tile<2x1x1x1x1x1xi32>
    %reduce_88 = reduce %63 dim=1 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_89 = reshape %reduce_88 : tile<2x2x2x2x2xi32> -> tile<2x1x2x2x2x2xi32>
    %bcast_90 = broadcast %reshape_89 : tile<2x1x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %64 = xori %63, %bcast_90 : tile<2x2x2x2x2x2xi32>
    %65 = cmpi greater_than %63, %64, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_91 = broadcast %reshape_87 : tile<2x1x1x1x1x1xi32> -> tile<2x2x1x1x1x1xi32>
    %bcast_92 = broadcast %reshape_62 : tile<1x2x1x1x1x1xi32> -> tile<2x2x1x1x1x1xi32>
    %66 = xori %bcast_91, %bcast_92 : tile<2x2x1x1x1x1xi32>
    %67 = cmpi not_equal %66, %cst_0_i32_13, signed : tile<2x2x1x1x1x1xi32> -> tile<2x2x1x1x1x1xi1>
    %bcast_93 = broadcast %67 : tile<2x2x1x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %68 = cmpi not_equal %65, %bcast_93, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %69 = select %68, %64, %63 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_94 = reduce %69 dim=2 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_95 = reshape %reduce_94 : tile<2x2x2x2x2xi32> -> tile<2x2x1x2x2x2xi32>
    %bcast_96 = broadcast %reshape_95 : tile<2x2x1x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %70 = xori %69, %bcast_96 : tile<2x2x2x2x2x2xi32>
    %71 = cmpi greater_than %69, %70, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_97 = broadcast %reshape_87 : tile<2x1x1x1x1x1xi32> -> tile<2x1x2x1x1x1xi32>
    %bcast_98 = broadcast %reshape_43 : tile<1x1x2x1x1x1xi32> -> tile<2x1x2x1x1x1xi32>
    %72 = xori %bcast_97, %bcast_98 : tile<2x1x2x1x1x1xi32>
    %73 = cmpi not_equal %72, %cst_0_i32_12, signed : tile<2x1x2x1x1x1xi32> -> tile<2x1x2x1x1x1xi1>
    %bcast_99 = broadcast %73 : tile<2x1x2x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %74 = cmpi not_equal %71, %bcast_99, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %75 = select %74, %70, %69 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_100 = reduce %75 dim=3 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_101 = reshape %reduce_100 : tile<2x2x2x2x2xi32> -> tile<2x2x2x1x2x2xi32>
    %bcast_102 = broadcast %reshape_101 : tile<2x2x2x1x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %76 = xori %75, %bcast_102 : tile<2x2x2x2x2x2xi32>
    %77 = cmpi greater_than %75, %76, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_103 = broadcast %reshape_87 : tile<2x1x1x1x1x1xi32> -> tile<2x1x1x2x1x1xi32>
    %bcast_104 = broadcast %reshape_30 : tile<1x1x1x2x1x1xi32> -> tile<2x1x1x2x1x1xi32>
    %78 = xori %bcast_103, %bcast_104 : tile<2x1x1x2x1x1xi32>
    %79 = cmpi not_equal %78, %cst_0_i32_11, signed : tile<2x1x1x2x1x1xi32> -> tile<2x1x1x2x1x1xi1>
    %bcast_105 = broadcast %79 : tile<2x1x1x2x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %80 = cmpi not_equal %77, %bcast_105, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %81 = select %80, %76, %75 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_106 = reduce %81 dim=4 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_107 = reshape %reduce_106 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x1x2xi32>
    %bcast_108 = broadcast %reshape_107 : tile<2x2x2x2x1x2xi32> -> tile<2x2x2x2x2x2xi32>
    %82 = xori %81, %bcast_108 : tile<2x2x2x2x2x2xi32>
    %83 = cmpi greater_than %81, %82, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_109 = broadcast %reshape_87 : tile<2x1x1x1x1x1xi32> -> tile<2x1x1x1x2x1xi32>
    %bcast_110 = broadcast %reshape_23 : tile<1x1x1x1x2x1xi32> -> tile<2x1x1x1x2x1xi32>
    %84 = xori %bcast_109, %bcast_110 : tile<2x1x1x1x2x1xi32>
    %85 = cmpi not_equal %84, %cst_0_i32_10, signed : tile<2x1x1x1x2x1xi32> -> tile<2x1x1x1x2x1xi1>
    %bcast_111 = broadcast %85 : tile<2x1x1x1x2x1xi1> -> tile<2x2x2x2x2x2xi1>
    %86 = cmpi not_equal %83, %bcast_111, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %87 = select %86, %82, %81 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_112 = reduce %87 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_113 = reshape %reduce_112 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_114 = broadcast %reshape_113 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %88 = xori %87, %bcast_114 : tile<2x2x2x2x2x2xi32>
    %89 = cmpi greater_than %87, %88, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %bcast_115 = broadcast %reshape_87 : tile<2x1x1x1x1x1xi32> -> tile<2x1x1x1x1x2xi32>
    %bcast_116 = broadcast %reshape_26 : tile<1x1x1x1x1x2xi32> -> tile<2x1x1x1x1x2xi32>
    %90 = xori %bcast_115, %bcast_116 : tile<2x1x1x1x1x2xi32>
    %91 = cmpi not_equal %90, %cst_0_i32_9, signed : tile<2x1x1x1x1x2xi32> -> tile<2x1x1x1x1x2xi1>
    %bcast_117 = broadcast %91 : tile<2x1x1x1x1x2xi1> -> tile<2x2x2x2x2x2xi1>
    %92 = cmpi not_equal %89, %bcast_117, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %93 = select %92, %88, %87 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_118 = reduce %93 dim=0 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_119 = reshape %reduce_118 : tile<2x2x2x2x2xi32> -> tile<1x2x2x2x2x2xi32>
    %bcast_120 = broadcast %reshape_119 : tile<1x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %94 = xori %93, %bcast_120 : tile<2x2x2x2x2x2xi32>
    %95 = cmpi greater_than %93, %94, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %96 = cmpi not_equal %reshape_87, %cst_0_i32_19, signed : tile<2x1x1x1x1x1xi32> -> tile<2x1x1x1x1x1xi1>
    %bcast_121 = broadcast %96 : tile<2x1x1x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %97 = cmpi not_equal %95, %bcast_121, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %98 = select %97, %94, %93 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_122 = reduce %98 dim=1 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_123 = reshape %reduce_122 : tile<2x2x2x2x2xi32> -> tile<2x1x2x2x2x2xi32>
    %bcast_124 = broadcast %reshape_123 : tile<2x1x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %99 = xori %98, %bcast_124 : tile<2x2x2x2x2x2xi32>
    %100 = cmpi greater_than %98, %99, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %101 = cmpi not_equal %reshape_62, %cst_0_i32_18, signed : tile<1x2x1x1x1x1xi32> -> tile<1x2x1x1x1x1xi1>
    %bcast_125 = broadcast %101 : tile<1x2x1x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %102 = cmpi not_equal %100, %bcast_125, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %103 = select %102, %99, %98 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_126 = reduce %103 dim=2 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_127 = reshape %reduce_126 : tile<2x2x2x2x2xi32> -> tile<2x2x1x2x2x2xi32>
    %bcast_128 = broadcast %reshape_127 : tile<2x2x1x2x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %104 = xori %103, %bcast_128 : tile<2x2x2x2x2x2xi32>
    %105 = cmpi greater_than %103, %104, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %106 = cmpi not_equal %reshape_43, %cst_0_i32_17, signed : tile<1x1x2x1x1x1xi32> -> tile<1x1x2x1x1x1xi1>
    %bcast_129 = broadcast %106 : tile<1x1x2x1x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %107 = cmpi not_equal %105, %bcast_129, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %108 = select %107, %104, %103 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_130 = reduce %108 dim=3 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_131 = reshape %reduce_130 : tile<2x2x2x2x2xi32> -> tile<2x2x2x1x2x2xi32>
    %bcast_132 = broadcast %reshape_131 : tile<2x2x2x1x2x2xi32> -> tile<2x2x2x2x2x2xi32>
    %109 = xori %108, %bcast_132 : tile<2x2x2x2x2x2xi32>
    %110 = cmpi greater_than %108, %109, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %111 = cmpi not_equal %reshape_30, %cst_0_i32_16, signed : tile<1x1x1x2x1x1xi32> -> tile<1x1x1x2x1x1xi1>
    %bcast_133 = broadcast %111 : tile<1x1x1x2x1x1xi1> -> tile<2x2x2x2x2x2xi1>
    %112 = cmpi not_equal %110, %bcast_133, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %113 = select %112, %109, %108 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_134 = reduce %113 dim=4 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_135 = reshape %reduce_134 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x1x2xi32>
    %bcast_136 = broadcast %reshape_135 : tile<2x2x2x2x1x2xi32> -> tile<2x2x2x2x2x2xi32>
    %114 = xori %113, %bcast_136 : tile<2x2x2x2x2x2xi32>
    %115 = cmpi greater_than %113, %114, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %116 = cmpi not_equal %reshape_23, %cst_0_i32_15, signed : tile<1x1x1x1x2x1xi32> -> tile<1x1x1x1x2x1xi1>
    %bcast_137 = broadcast %116 : tile<1x1x1x1x2x1xi1> -> tile<2x2x2x2x2x2xi1>
    %117 = cmpi not_equal %115, %bcast_137, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %118 = select %117, %114, %113 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reduce_138 = reduce %118 dim=5 identities=[0 : i32] : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2xi32> 
    (%reduce_lhs: tile<i32>, %reduce_rhs: tile<i32>) {
      %147 = xori %reduce_lhs, %reduce_rhs : tile<i32>
      yield %147 : tile<i32>
    }
    %reshape_139 = reshape %reduce_138 : tile<2x2x2x2x2xi32> -> tile<2x2x2x2x2x1xi32>
    %bcast_140 = broadcast %reshape_139 : tile<2x2x2x2x2x1xi32> -> tile<2x2x2x2x2x2xi32>
    %119 = xori %118, %bcast_140 : tile<2x2x2x2x2x2xi32>
    %120 = cmpi greater_than %118, %119, signed : tile<2x2x2x2x2x2xi32> -> tile<2x2x2x2x2x2xi1>
    %121 = cmpi not_equal %reshape_26, %cst_0_i32_14, signed : tile<1x1x1x1x1x2xi32> -> tile<1x1x1x1x1x2xi1>
    %bcast_141 = broadcast %121 : tile<1x1x1x1x1x2xi1> -> tile<2x2x2x2x2x2xi1>
    %122 = cmpi not_equal %120, %bcast_141, signed : tile<2x2x2x2x2x2xi1> -> tile<2x2x2x2x2x2xi1>
    %123 = select %122, %119, %118 : tile<2x2x2x2x2x2xi1>, tile<2x2x2x2x2x2xi32>
    %reshape_142 = reshape %123 : tile<2x2x2x2x2x2xi32> -> tile<64xi32>
    %124 = store_ptr_tko weak %2, %reshape_142 token=%result_token : tile<64xptr<i32>>, tile<64xi32> -> token
    %125 = offset %arg1, %cst_64_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %reshape_143 = reshape %125 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_144 = broadcast %reshape_143 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %126 = offset %bcast_144, %0 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %127 = subi %cst_63_i32, %0 : tile<64xi32>
    %128 = alloca num_elem = 64, alignment = 4 : tile<ptr<i32>>
    %129 = iota : tile<64xi32>
    %reshape_145 = reshape %128 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_146 = broadcast %reshape_145 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %130 = offset %bcast_146, %129 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %131 = store_ptr_tko weak %130, %result : tile<64xptr<i32>>, tile<64xi32> -> token
    %reshape_147 = reshape %128 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_148 = broadcast %reshape_147 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %132 = offset %bcast_148, %127 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result_149, %result_token_150 = load_ptr_tko weak %132 token=%131 : tile<64xptr<i32>> -> tile<64xi32>, token
    %133 = store_ptr_tko weak %126, %result_149 token=%124 : tile<64xptr<i32>>, tile<64xi32> -> token
    %134 = offset %arg1, %cst_128_i32 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %135 = iota : tile<16xi32>
    %reshape_151 = reshape %134 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_152 = broadcast %reshape_151 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %136 = offset %bcast_152, %135 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %137 = cmpi less_than %0, %cst_60_i32, signed : tile<64xi32> -> tile<64xi1>
    %138 = andi %result, %cst_31_i32 : tile<64xi32>
    %139 = alloca num_elem = 16, alignment = 4 : tile<ptr<i32>>
    %140 = iota : tile<16xi32>
    %reshape_153 = reshape %139 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_154 = broadcast %reshape_153 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %141 = offset %bcast_154, %140 : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %cst_0_i32_155 = constant <i32: 0> : tile<16xi32>
    %142 = store_ptr_tko weak %141, %cst_0_i32_155 : tile<16xptr<i32>>, tile<16xi32> -> token
    %cst_16_i32 = constant <i32: 16> : tile<64xi32>
    %143 = cmpi less_than %138, %cst_16_i32, unsigned : tile<64xi32> -> tile<64xi1>
    %144 = andi %143, %137 : tile<64xi1>
    %cst_1_i32 = constant <i32: 1> : tile<64xi32>
    %reshape_156 = reshape %139 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bcast_157 = broadcast %reshape_156 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %145 = offset %bcast_157, %138 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %result_158, %result_token_159 = atomic_rmw_tko relaxed tl_blk %145, add, %cst_1_i32, %144 token=%142 : tile<64xptr<i32>>, tile<64xi32>, tile<64xi1> -> tile<64xi32>, token
    %result_160, %result_token_161 = load_ptr_tko weak %141 token=%result_token_159 : tile<16xptr<i32>> -> tile<16xi32>, token
    %146 = store_ptr_tko weak %136, %result_160 token=%133 : tile<16xptr<i32>>, tile<16xi32> -> token
    return
  }
}
